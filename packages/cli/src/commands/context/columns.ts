import type { Account, Config } from '../../config/config.ts';
import type { Column } from '../../output/columns.ts';

/** A context as it is shown: of the token only its end, enough to tell two apart. */
export interface ShownContext {
  /** Null: the environment says all of it. */
  readonly name: string | null;
  readonly url: string;
  readonly token_hint: string;
  readonly current: boolean;
}

export const CONTEXT_COLUMNS: readonly Column<ShownContext>[] = [
  { name: 'current', of: (context) => (context.current ? '*' : ' ') },
  { name: 'name', of: (context) => context.name ?? '(environment)' },
  { name: 'url', of: (context) => context.url },
  { name: 'token_hint', of: (context) => `…${context.token_hint}` },
];

const HINT_LENGTH = 4;

export function shownContext(name: string | null, { url, token }: Account, current: boolean): ShownContext {
  return { name, url, token_hint: token.slice(-HINT_LENGTH), current };
}

export function shownContexts({ current, contexts }: Config): ShownContext[] {
  return Object.entries(contexts)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, account]) => shownContext(name, account, name === current));
}
