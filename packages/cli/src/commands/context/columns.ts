import type { Account, Config } from '../../config/config.ts';
import type { Column } from '../../output/columns.ts';

/** A context as shown: only the end of the token, enough to tell two tokens apart. */
export interface ContextRow {
  /** Null: the environment defines the whole account. */
  readonly name: string | null;
  readonly url: string;
  readonly token_hint: string;
  readonly current: boolean;
}

export const CONTEXT_COLUMNS: readonly Column<ContextRow>[] = [
  { name: 'current', value: (context) => (context.current ? '*' : ' ') },
  { name: 'name', value: (context) => context.name ?? '(environment)' },
  { name: 'url', value: (context) => context.url },
  { name: 'token_hint', value: (context) => `…${context.token_hint}` },
];

const HINT_LENGTH = 4;

export function toContextRow(name: string | null, { url, token }: Account, current: boolean): ContextRow {
  return { name, url, token_hint: token.slice(-HINT_LENGTH), current };
}

export function toContextRows({ current, contexts }: Config): ContextRow[] {
  return Object.entries(contexts)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, account]) => toContextRow(name, account, name === current));
}
