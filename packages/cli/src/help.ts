/** What help says beside commander's own: the environment, the formats, and the exit codes. */
import { EXIT_CODES } from './exit-codes.ts';

export const ENVIRONMENT = [
  ['SKERRY_API_URL', "the host's address, instead of a context's"],
  ['SKERRY_TOKEN', "an API token, instead of a context's"],
  ['SKERRY_CONTEXT', 'the context to use, as --context'],
  ['SKERRY_CONFIG', 'the file of contexts; ~/.config/skerry/config.json when left out'],
] as const;

/** Topics of `skerry help`, beside the commands. */
export const TOPICS = {
  environment: {
    about: 'Variables that the command reads',
    text: () => `${formatRows(ENVIRONMENT)}

SKERRY_API_URL and SKERRY_TOKEN together are an account by themselves: nobody needs to sign in.
--context NAME overrides them all.`,
  },
  'exit-codes': {
    about: 'What the command leaves with',
    text: () =>
      formatRows(
        Object.entries(EXIT_CODES).map(
          ([name, { code, about }]) => [`${String(code).padStart(3)}  ${name}`, about] as const,
        ),
      ),
  },
  output: {
    about: 'Formats of what is printed',
    text: () => `-o table             for people: a line for each thing, or for each field of one (the default)
-o json              the objects of the API as they are, indented
-o yaml              the same as YAML
-o columns=id,ipv4   chosen columns in this order; the help of a command names them
--no-header          without the line of headings

Data goes to stdout; notes, progress and errors go to stderr. Progress is shown only on a terminal,
and --quiet leaves it out there, too. Times are in UTC, money in US dollars.`,
  },
} as const;
export type Topic = keyof typeof TOPICS;

export function isTopic(word: string | undefined): word is Topic {
  return word !== undefined && Object.hasOwn(TOPICS, word);
}

/** Below the help of `skerry` itself. */
export function programHelpFooter(): string {
  const topics = Object.entries(TOPICS).map(([name, { about }]) => [`skerry help ${name}`, about] as const);
  return `
Environment:
${indentLines(formatRows(ENVIRONMENT))}

More:
${indentLines(formatRows(topics))}

A first look:
  skerry login
  skerry server list`;
}

function formatRows(pairs: readonly (readonly [string, string])[]): string {
  const width = Math.max(...pairs.map(([name]) => name.length));
  return pairs.map(([name, about]) => `${name.padEnd(width)}  ${about}`).join('\n');
}

function indentLines(text: string): string {
  return text.replace(/^/gm, '  ');
}

/** Wider lines are hard to read, even where there is room. */
const WIDTH_MAX = 100;

/** Paragraphs, filled anew to the terminal's width; one with two spaces in a row stays as it is. */
export function wrapText(text: string, indent = ''): string {
  const width = Math.min(process.stdout.columns || 80, WIDTH_MAX) - indent.length;
  const paragraphs = text.split('\n\n').map((one) => (/ {2}/.test(one) ? one : wrapParagraph(one, width)));
  return paragraphs.join('\n\n').replace(/^(?=.)/gm, indent);
}

function wrapParagraph(paragraph: string, width: number): string {
  const lines: string[] = [];
  let line = '';
  for (const word of paragraph.split(/\s+/)) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line].join('\n');
}
