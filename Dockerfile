# The desk in one process; all it keeps is in /data. compose.yaml adds PostgreSQL and Redis.
FROM python:3.13-slim

ENV PYTHONUNBUFFERED=1 \
    HANDOFF_DATA=/data

WORKDIR /desk
RUN useradd --system --user-group --uid 10001 --home-dir /data --shell /usr/sbin/nologin desk \
    && install --directory --owner=desk --group=desk --mode=0700 /data
COPY requirements.lock ./
RUN pip install --no-cache-dir --require-hashes --requirement requirements.lock
COPY . .
RUN python -m compileall -q .

USER desk
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s CMD \
    ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8000/healthz', timeout=2)"]

# exec makes the server PID 1: on SIGTERM it drains for up to 20 s, so stop it with more grace.
CMD ["sh", "-c", "umask 077; python manage.py prepare && exec python -m config.serve --host 0.0.0.0 --port 8000"]
