/** A client of the SDK that starts `skerry mcp`, with or without a person to ask. */
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { type CallToolResult, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import type { JsonBody } from '../../support/v1-client.ts';

const BIN = fileURLToPath(new URL('../../../packages/cli/bin/skerry.js', import.meta.url));

export interface Account {
  readonly url: string;
  readonly token: string;
  /** The folder of the configuration. */
  readonly home: string;
}

/** The answer of the person to each question. */
export type Answer = 'confirm' | 'leave unchecked' | 'decline' | 'cancel';

export interface Assistant {
  readonly client: Client;
  /** Everything that the server wrote to stderr. */
  readonly warnings: () => string;
  /** The questions that the person saw. */
  readonly questions: readonly string[];
  /** The content of a successful result; throws the text of a failed one. */
  readonly call: (tool: string, given?: object) => Promise<JsonBody>;
  /** The text of a failed result; throws if the call succeeds. */
  readonly fail: (tool: string, given?: object) => Promise<string>;
  readonly close: () => Promise<void>;
}

/** Without `answer`, the client has no forms. */
export async function startAssistant(
  { url, token, home }: Account,
  { answer, words = [] }: { readonly answer?: () => Answer; readonly words?: readonly string[] } = {},
): Promise<Assistant> {
  const env = { PATH: process.env.PATH ?? '', HOME: home, SKERRY_API_URL: url, SKERRY_TOKEN: token };
  const line = { command: process.execPath, args: [BIN, 'mcp', ...words], env, stderr: 'pipe' as const };
  const transport = new StdioClientTransport(line);
  const capabilities = answer ? { elicitation: { form: {} } } : {};
  const client = new Client({ name: 'test', version: '1.0.0' }, { capabilities });
  const questions: string[] = [];
  if (answer) {
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
      questions.push(params.message);
      const given = answer();
      if (given === 'decline' || given === 'cancel') return { action: given };
      return { action: 'accept', content: { confirm: given === 'confirm' } };
    });
  }
  let warnings = '';
  transport.stderr?.on('data', (chunk: Buffer) => {
    warnings += chunk.toString();
  });
  await client.connect(transport);
  const run = async (tool: string, given: object) =>
    (await client.callTool({ name: tool, arguments: { ...given } })) as CallToolResult;
  const textOf = ({ content: [first] }: CallToolResult) => (first?.type === 'text' ? first.text : '');
  return {
    client,
    warnings: () => warnings,
    questions,
    call: async (tool, given = {}) => {
      const result = await run(tool, given);
      if (result.isError) throw new Error(`${tool}: ${textOf(result)}`);
      return result.structuredContent;
    },
    fail: async (tool, given = {}) => {
      const result = await run(tool, given);
      if (!result.isError) throw new Error(`${tool} succeeded: ${textOf(result)}`);
      return textOf(result);
    },
    close: () => client.close(),
  };
}
