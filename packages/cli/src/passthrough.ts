/** Separates our options from another program's: `skerry server ssh web-1 ls -la`. */
import type { Command as Commander } from 'commander';
import type { Command } from './command.ts';

/** Returns the words with `--` inserted in front of the first word that belongs to another program. */
export function insertSeparator(
  program: Commander,
  rows: readonly Command[],
  words: readonly string[],
): readonly string[] {
  let current = program;
  let operands = 0;
  for (let place = 0; place < words.length; place += 1) {
    const word = words[place] ?? '';
    if (word === '--') return words;
    if (/^-./.test(word)) {
      if (takesValue(word, [current, program])) place += 1;
      continue;
    }
    const sub =
      operands === 0
        ? current.commands.find((one) => one.name() === word || one.aliases().includes(word))
        : null;
    if (sub) current = sub;
    else if (isPassthrough(current, program, rows, operands))
      return [...words.slice(0, place), '--', ...words.slice(place)];
    else operands += 1;
  }
  return words;
}

function takesValue(word: string, commands: readonly Commander[]): boolean {
  const options = commands.flatMap((one) => one.options);
  return options.some((option) => option.required && (option.long === word || option.short === word));
}

function isPassthrough(
  at: Commander,
  program: Commander,
  rows: readonly Command[],
  operand: number,
): boolean {
  const names: string[] = [];
  for (let one: Commander | null = at; one && one !== program; one = one.parent) names.unshift(one.name());
  const row = rows.find(({ name }) => name === names.join(' '));
  return Object.values(row?.args ?? {})[operand]?.passthrough === true;
}
