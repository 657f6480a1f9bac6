/** Rows of the tables of settings, by the type of their value. */

/** null: unset. A pair has one default for a sandbox and one for a live service. */
type Default = string | null | { readonly sandbox: string; readonly live: string };

export interface SettingRow {
  /** `node`: the URL of a coin node, which is secret because it may contain a password. */
  readonly type: 'text' | 'port' | 'whole' | 'number' | 'bool' | 'secret' | 'node' | 'url';
  readonly default: Default;
  readonly min?: number;
  readonly max?: number;
  /** The allowed values. */
  readonly choices?: readonly string[];
  readonly about: string;
}

type Range = readonly [min: number, max: number];

export function text<const Unset extends Default>(byDefault: Unset, about: string) {
  return { type: 'text', default: byDefault, about } as const;
}

export function choice<const Word extends string>(choices: readonly Word[], byDefault: Word, about: string) {
  return { type: 'text', default: byDefault as string, choices, about } as const;
}

export function port<const Unset extends string | null>(byDefault: Unset, about: string) {
  return { type: 'port', default: byDefault, about } as const;
}

export function whole(byDefault: Exclude<Default, null>, [min, max]: Range, about: string) {
  return { type: 'whole', default: byDefault, min, max, about } as const;
}

export function number(byDefault: string, [min, max]: Range, about: string) {
  return { type: 'number', default: byDefault, min, max, about } as const;
}

export function bool(about: string) {
  return { type: 'bool', default: 'false', about } as const;
}

export function secret(about: string) {
  return { type: 'secret', default: null, about } as const;
}

export function node(about: string) {
  return { type: 'node', default: null, about } as const;
}

export function url(about: string) {
  return { type: 'url', default: null, about } as const;
}
