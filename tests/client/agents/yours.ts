// Stands for the reader's own model: asks people once, and then says what it was told.

import { MockLanguageModelV3 } from "ai/test";

const args = {
  channel_id: Number(process.env["DESK_CHANNEL"]),
  summary: "The visitor asks where order 1234 is; I cannot see orders.",
  expected_action: "Look up order 1234 and fill in its status.",
};
const usage = {
  inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 0, text: 0, reasoning: 0 },
};

/** The text of the last tool result in a prompt, in whatever shape it came. */
function told(prompt: { role: string; content: unknown }[]): string | undefined {
  const last = prompt.at(-1);
  return last?.role === "tool" ? JSON.stringify(last.content) : undefined;
}

export const model = new MockLanguageModelV3({
  doGenerate: async ({ prompt }) => {
    const said = told(prompt);
    if (said !== undefined) {
      return {
        content: [{ type: "text", text: `I was told: ${said}` }],
        finishReason: { unified: "stop", raw: undefined },
        usage,
        warnings: [],
      };
    }
    return {
      content: [
        {
          type: "tool-call",
          toolCallId: "call_1",
          toolName: "handoff_request",
          input: JSON.stringify(args),
        },
      ],
      finishReason: { unified: "tool-calls", raw: undefined },
      usage,
      warnings: [],
    };
  },
});
