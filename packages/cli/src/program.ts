/** Builds the commander program from the rows. Commander does the parsing, the help, and usage errors. */
import {
  Command as Commander,
  Argument as CommanderArgument,
  Option as CommanderOption,
  InvalidArgumentError,
} from 'commander';
import type { Command, Context } from './command.ts';
import { GROUPS } from './commands/index.ts';
import { Failure } from './exit-codes.ts';
import { isTopic, programHelpFooter, TOPICS, wrapText } from './help.ts';
import { kebabCase, type Option } from './options.ts';
import { parseFormat, selectColumns } from './output/format.ts';

export interface GlobalOptions {
  readonly output: string;
  readonly header: boolean;
  readonly quiet?: boolean;
  readonly context?: string;
}

export function buildProgram(
  rows: readonly Command[],
  version: string,
  open: (options: GlobalOptions) => Context,
): Commander {
  const program = new Commander('skerry')
    .description('Manage servers, volumes, firewalls, and top-ups of a Skerry host.')
    .helpOption('-h, --help', 'Show this help')
    .helpCommand(false)
    .configureHelp({ sortSubcommands: true, showGlobalOptions: true })
    .showSuggestionAfterError()
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'skerry: ')) })
    .addHelpText('after', programHelpFooter)
    .exitOverride();
  // After a command, `--version` is the command's own: `skerry image upload rescue.iso --version 2026.1`.
  const isOfCommand = process.argv.slice(2).some((word) => isCommandWord(rows, word));
  if (!isOfCommand) program.version(version, '--version', 'Print the version');
  addGlobalOptions(program);
  addHelpCommand(program);
  for (const row of rows) addCommand(program, row, open);
  return program;
}

function isCommandWord(rows: readonly Command[], word: string): boolean {
  const aliases = Object.values(GROUPS).flatMap((group) => group.aliases ?? []);
  return aliases.includes(word) || rows.some(({ name }) => name.split(' ')[0] === word);
}

function addGlobalOptions(program: Commander): void {
  program
    .option('-o, --output <format>', 'Output format: table, json, yaml, or columns=NAME,NAME', 'table')
    .option('--no-header', 'Omit the heading line')
    .option('-q, --quiet', 'Hide notes and progress')
    .option('--context <name>', 'Context to use; see `skerry context list`');
}

/** `skerry help`, `skerry help server create`, `skerry help exit-codes`. */
function addHelpCommand(program: Commander): void {
  program
    .command('help')
    .argument('[words...]', `A command, or one of: ${Object.keys(TOPICS).join(', ')}`)
    .description('Show help for a command or a topic')
    .action((words: readonly string[]) => {
      const [topic] = words;
      if (isTopic(topic)) {
        process.stdout.write(`${TOPICS[topic].text()}\n`);
        return;
      }
      let at = program;
      for (const word of words) {
        const next = at.commands.find((one) => one.name() === word || one.aliases().includes(word));
        if (!next) throw new Failure('usage', `no help found for "${words.join(' ')}"; see \`skerry help\``);
        at = next;
      }
      at.outputHelp();
    });
}

function addCommand(program: Commander, row: Command, open: (options: GlobalOptions) => Context): void {
  const words = row.name.split(' ');
  const parent = words
    .slice(0, -1)
    .reduce((at, word, depth) => findOrCreateGroup(at, word, words.slice(0, depth + 1).join(' ')), program);
  const added = parent
    .command(words.at(-1) ?? '', { isDefault: row.isDefault === true, hidden: row.hidden === true })
    .description(row.about)
    .aliases([...(row.aliases ?? [])])
    .allowExcessArguments(false)
    .showHelpAfterError(`Run \`skerry ${row.name} --help\` for usage.`);
  if (row.isDefault) {
    parent.addHelpText(
      'after',
      `\nWithout a subcommand, runs \`skerry ${row.name}\`. ` +
        `For its options, see \`skerry ${row.name} --help\`.`,
    );
  }
  const args = Object.entries(row.args ?? {});
  for (const [name, { about, optional, variadic, choices }] of args) {
    const shape = `${kebabCase(name)}${variadic ? '...' : ''}`;
    const argument = new CommanderArgument(optional ? `[${shape}]` : `<${shape}>`, about);
    added.addArgument(choices ? argument.choices([...choices]) : argument);
  }
  const options = Object.entries(row.options ?? {});
  const shapes = options.map(([name, option]) => ({ name, option, shape: toCommanderOption(name, option) }));
  for (const { shape } of shapes) added.addOption(shape);
  added.addHelpText('after', commandHelpFooter(row));
  added.action(async (...given: unknown[]) => {
    const texts = given.slice(0, args.length) as (string | readonly string[] | undefined)[];
    const raw = given[args.length] as Record<string, readonly string[] | boolean | undefined>;
    const values = [
      ...args.map(([name, argument], at) => [name, argument.parse(toTexts(texts[at]) ?? [])] as const),
      ...shapes.map(({ name, option, shape }) => {
        const value = raw[shape.attributeName()];
        // Commander turns `--no-wait` into a `wait` that is true unless the option is given.
        const optionTexts = shape.negate ? toTexts(value === false) : toTexts(value);
        return [name, option.parse(optionTexts, shape.long ?? name)] as const;
      }),
    ];
    const global = program.opts<GlobalOptions>();
    // Before the command runs, so that a typo cannot fail an order that was already placed.
    selectColumns(parseFormat(global.output), row.columns ?? []);
    await row.run(open(global), Object.fromEntries(values));
  });
}

function commandHelpFooter({ help, columns, example }: Command): string {
  const names = columns?.map(({ name }) => name).join(', ');
  return [
    help ? `\n${wrapText(help)}` : '',
    names ? `\nColumns:\n${wrapText(names, '  ')}` : '',
    `\nExample:\n  ${example.replaceAll('\n', '\n  ')}`,
  ]
    .filter(Boolean)
    .join('\n');
}

/** Collects values in a list, so that a repeated option keeps all of them. */
function toCommanderOption(name: string, option: Option<unknown>): CommanderOption {
  const short = option.short ? `-${option.short}, ` : '';
  const value = option.value === null ? '' : ` <${option.value}>`;
  const choices =
    option.choices && option.value !== option.choices.join('|')
      ? ` (one of: ${option.choices.join(', ')})`
      : '';
  const repeated = option.repeatable ? ' (can be repeated)' : '';
  const shape = new CommanderOption(
    `${short}--${kebabCase(name)}${value}`,
    `${option.about}${choices}${repeated}${option.required ? ' (required)' : ''}`,
  );
  // A flag has no value; an argument parser would make commander require one.
  if (option.value === null) return shape;
  shape.argParser((text: string, before: readonly string[] | undefined) => {
    if (option.choices && !option.choices.includes(text)) {
      throw new InvalidArgumentError(`Allowed values: ${option.choices.join(', ')}.`);
    }
    return [...(before ?? []), text];
  });
  return option.required ? shape.makeOptionMandatory() : shape;
}

/** Undefined: the option was omitted. */
function toTexts(value: unknown): readonly string[] | undefined {
  if (value === undefined || value === false) return undefined;
  return value === true ? [] : ([value].flat() as string[]);
}

/** `path` contains all words up to the group, such as `firewall rule`. */
function findOrCreateGroup(parent: Commander, word: string, path: string): Commander {
  const found = parent.commands.find((one) => one.name() === word);
  if (found) return found;
  const group = parent
    .command(word)
    .description(GROUPS[word]?.about ?? '')
    .helpCommand(false)
    .showHelpAfterError(`Run \`skerry ${path} --help\` for usage.`);
  return group.aliases([...(GROUPS[word]?.aliases ?? [])]);
}

/**
 * Returns the words with `--` inserted in front of the first word that belongs to another program:
 * `skerry server ssh web-1 -- ls -la`.
 */
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
