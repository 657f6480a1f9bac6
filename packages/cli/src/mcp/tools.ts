/** Tools as a client lists them. */
import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import type { Account } from '@skerry/sdk';
import { CONFIRM } from './confirm.ts';
import { isAllowed, type Operation, quotedAs, toolName } from './contract.ts';
import { effectOf } from './effects.ts';

/** Arguments that the quote of the server replaces. */
const PRICE_LIMITS = new Set(['quote', 'max_price_usd']);

/** An operation that the token can call. */
export interface OfferedTool {
  readonly operation: Operation;
  /** The operation to quote before the call; null: it is free. */
  readonly quoted: string | null;
  readonly tool: Tool;
}

export function offerTools(
  contract: readonly Operation[],
  account: Account,
  readOnly: boolean,
): ReadonlyMap<string, OfferedTool> {
  const offered = contract
    .filter((one) => isAllowed(one, account) && (!readOnly || effectOf(one).kind === 'reads'))
    .map((operation) => {
      const quoted = quotedAs(operation, contract);
      return { operation, quoted, tool: describeTool(operation, quoted) };
    });
  return new Map(offered.map((one) => [one.tool.name, one]));
}

function describeTool(operation: Operation, quoted: string | null): Tool {
  const { id, method, scope, summary, description } = operation;
  const { kind, consequence } = effectOf(operation);
  const asks = quoted !== null || consequence !== undefined;
  const sentences = [
    `${summary}.`,
    description,
    quoted === null ? '' : 'The price is quoted first, and nothing above it is charged.',
    asks ? 'A person must confirm a call that charges, deletes, or erases something.' : '',
    `Scope: ${scope}.`,
  ];
  return {
    name: toolName(operation),
    title: summary,
    description: sentences.filter(Boolean).join(' '),
    inputSchema: inputOf(operation, quoted, asks),
    annotations: {
      title: summary,
      readOnlyHint: kind === 'reads',
      destructiveHint: kind === 'changes' || kind === 'destroys',
      idempotentHint: method !== 'POST' || kind === 'reads',
      // Webhooks send data to an address of the caller's choice.
      openWorldHint: /^(?:webhooks|deliveries)\./.test(id),
    },
    _meta: {
      'skerry/operation': id,
      'skerry/scope': scope,
      'skerry/destroys': kind === 'destroys',
      'skerry/quoted_as': quoted,
    },
  };
}

function inputOf({ input }: Operation, quoted: string | null, asks: boolean): Tool['inputSchema'] {
  const own = Object.entries(input.properties).filter(([name]) => !PRICE_LIMITS.has(name));
  const code = {
    type: 'string',
    description:
      'Only after a first call returned it, and a person agreed: the code that confirms the same call.',
  };
  const properties = {
    ...(quoted === null ? input.properties : Object.fromEntries(own)),
    ...(asks ? { [CONFIRM]: code } : {}),
  };
  return { ...input, properties, required: [...input.required] };
}
