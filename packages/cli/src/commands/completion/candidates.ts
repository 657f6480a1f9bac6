/** Computes completions from the rows: commands, options, choices, and names of the account's resources. */
import type { Command } from '../../command.ts';
import { kebabCase, type Option } from '../../options.ts';
import { FORMATS } from '../../output/format.ts';

export interface Candidate {
  readonly word: string;
  readonly about?: string;
}

/** Names to load: of resources in the account, or of contexts on this machine. */
interface DynamicCompletion {
  readonly kind: string;
  /** Text in front of each name: `--server=`. */
  readonly prefix: string;
}

export interface Completion {
  readonly candidates: readonly Candidate[];
  readonly dynamic: DynamicCompletion | null;
}

export interface Group {
  readonly about: string;
  readonly aliases?: readonly string[];
}
export type Groups = Readonly<Record<string, Group>>;

type Slot = Pick<Option<unknown>, 'value' | 'about' | 'choices' | 'completionKind' | 'short'>;
type Slots = ReadonlyMap<string, Slot & { readonly name: string }>;

const EMPTY_COMPLETION: Completion = { candidates: [], dynamic: null };

const GLOBAL: Readonly<Record<string, Slot>> = {
  output: { value: 'format', about: 'Output format', choices: FORMATS, short: 'o' },
  noHeader: { value: null, about: 'Omit the heading line' },
  quiet: { value: null, about: 'Hide notes and progress', short: 'q' },
  context: { value: 'name', about: 'Context to use', completionKind: 'context' },
  help: { value: null, about: 'Show help', short: 'h' },
};

/** `words` are the words after `skerry`; the last one is being typed and may be empty. */
export function complete(rows: readonly Command[], groups: Groups, words: readonly string[]): Completion {
  const before = words.slice(0, -1);
  const typed = words.at(-1) ?? '';
  const { path, args, pending, ended } = parseLine(rows, groups, before);
  const row = findRow(rows, path);
  const slots = slotsByWord(row);
  if (pending !== null) return completeSlot(pending, row, typed, '');
  if (!ended && typed.startsWith('-')) return completeOption(slots, row, typed);
  const below = args.length === 0 && !ended ? subcommandCandidates(rows, groups, path, typed) : [];
  const argument = row && argumentAt(row, args.length);
  const own = argument
    ? completeSlot({ ...argument.slot, name: argument.name }, row, typed, '')
    : EMPTY_COMPLETION;
  return { candidates: [...below, ...own.candidates], dynamic: own.dynamic };
}

interface ParsedLine {
  /** The words of the command's name. */
  readonly path: readonly string[];
  readonly args: readonly string[];
  /** The option that the next word is a value of. */
  readonly pending: (Slot & { readonly name: string }) | null;
  /** Whether `--` was typed. */
  readonly ended: boolean;
}

function parseLine(rows: readonly Command[], groups: Groups, before: readonly string[]): ParsedLine {
  let path: readonly string[] = [];
  let pending: ParsedLine['pending'] = null;
  let ended = false;
  const args: string[] = [];
  for (const word of before) {
    if (pending !== null) {
      pending = null;
      continue;
    }
    if (word === '--') ended = true;
    else if (!ended && word.startsWith('-')) {
      const slot = slotsByWord(findRow(rows, path)).get(word);
      if (slot && slot.value !== null) pending = slot;
    } else {
      const step = args.length === 0 && !ended ? descend(rows, groups, path, word) : null;
      if (step === null) args.push(word);
      else path = step;
    }
  }
  return { path, args, pending, ended };
}

/** Returns the path extended by a word, which may be an alias; null if there is no such command. */
function descend(
  rows: readonly Command[],
  groups: Groups,
  path: readonly string[],
  word: string,
): readonly string[] | null {
  for (const { name, aliases } of listSubcommands(rows, groups, path)) {
    if (name === word || aliases?.includes(word)) return [...path, name];
  }
  return null;
}

interface Subcommand {
  readonly name: string;
  readonly about: string;
  readonly aliases?: readonly string[] | undefined;
}

function listSubcommands(rows: readonly Command[], groups: Groups, path: readonly string[]): Subcommand[] {
  const found = new Map<string, Subcommand>();
  for (const { name, about, aliases, hidden } of rows) {
    const words = name.split(' ');
    const word = words[path.length];
    if (hidden || word === undefined || path.some((one, at) => words[at] !== one)) continue;
    const isGroup = words.length > path.length + 1;
    if (!isGroup) found.set(word, { name: word, about, aliases });
    else if (!found.has(word)) found.set(word, { name: word, about: '', ...groups[word] });
  }
  return [...found.values()];
}

function subcommandCandidates(
  rows: readonly Command[],
  groups: Groups,
  path: readonly string[],
  typed: string,
): Candidate[] {
  const help = path.length === 0 ? [{ name: 'help', about: 'Show help for a command or a topic' }] : [];
  return [...listSubcommands(rows, groups, path), ...help]
    .filter(({ name }) => name.startsWith(typed))
    .map(({ name, about }) => ({ word: name, about }))
    .sort((one, other) => (one.word < other.word ? -1 : 1));
}

/** Returns the row of this name, or the default command of the group. */
function findRow(rows: readonly Command[], path: readonly string[]): Command | undefined {
  const name = path.join(' ');
  const isDefault = (row: Command) => row.isDefault && row.name.split(' ').slice(0, -1).join(' ') === name;
  return rows.find((row) => row.name === name) ?? rows.find(isDefault);
}

function slotsByWord(row: Command | undefined): Slots {
  const all = Object.entries({ ...GLOBAL, ...row?.options });
  const named = all.flatMap(([name, slot]) => {
    const shown = { ...slot, name };
    const long = [`--${kebabCase(name)}`, shown] as const;
    return slot.short ? [long, [`-${slot.short}`, shown] as const] : [long];
  });
  return new Map(named);
}

function completeOption(slots: Slots, row: Command | undefined, typed: string): Completion {
  const at = typed.indexOf('=');
  if (at > 0) {
    const slot = slots.get(typed.slice(0, at));
    return slot && slot.value !== null
      ? completeSlot(slot, row, typed, typed.slice(0, at + 1))
      : EMPTY_COMPLETION;
  }
  const candidates = [...slots]
    .filter(([word]) => word.startsWith('--') && word.startsWith(typed))
    .map(([word, { about }]) => ({ word, about }));
  return { candidates, dynamic: null };
}

function completeSlot(
  slot: Slot & { readonly name: string },
  row: Command | undefined,
  typed: string,
  prefix: string,
): Completion {
  if (slot.name === 'output' && typed.startsWith(`${prefix}columns=`)) return completeColumns(row, typed);
  if (slot.choices) {
    const words = slot.choices.map((choice) => `${prefix}${choice}`);
    return wordsThatStart(typed, words);
  }
  const isFile = slot.value === 'file' || slot.value === 'path';
  const kind = slot.completionKind ?? (isFile ? 'file' : slot.name);
  return { candidates: [], dynamic: { kind, prefix } };
}

/** Completes the last name of `columns=id,na`. */
function completeColumns(row: Command | undefined, typed: string): Completion {
  const kept = typed.replace(/[^=,]*$/, '');
  const columns = row?.columns?.map(({ name }) => name) ?? [];
  return wordsThatStart(
    typed,
    columns.map((name) => `${kept}${name}`),
  );
}

function wordsThatStart(typed: string, words: readonly string[]): Completion {
  const candidates = words.filter((word) => word.startsWith(typed)).map((word) => ({ word }));
  return { candidates, dynamic: null };
}

function argumentAt(row: Command, at: number): { readonly name: string; readonly slot: Slot } | null {
  const all = Object.entries(row.args ?? {});
  const [name, argument] = all[Math.min(at, all.length - 1)] ?? [];
  if (name === undefined || !argument || (at >= all.length && !argument.variadic)) return null;
  return { name, slot: { ...argument, value: name } };
}
