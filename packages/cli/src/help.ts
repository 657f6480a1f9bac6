/** Help topics in addition to commander's help: the environment, output formats, and exit codes. */
import { EXIT_CODES } from './exit-codes.ts';

export const ENVIRONMENT = [
  ['SKERRY_API_URL', "address of the host, instead of the context's"],
  ['SKERRY_TOKEN', "API token, instead of the context's"],
  ['SKERRY_CONTEXT', 'context to use, like --context'],
  ['SKERRY_CONFIG', 'path of the context file (default: ~/.config/skerry/config.json)'],
] as const;

/** The topics of `skerry help`. */
export const TOPICS = {
  environment: {
    about: 'Environment variables',
    text: () => `${formatRows(ENVIRONMENT)}

With both SKERRY_API_URL and SKERRY_TOKEN set, you need no context.
--context NAME overrides all of them.`,
  },
  'exit-codes': {
    about: 'Exit codes',
    text: () =>
      formatRows(
        Object.entries(EXIT_CODES).map(
          ([name, { code, about }]) => [`${String(code).padStart(3)}  ${name}`, about] as const,
        ),
      ),
  },
  output: {
    about: 'Output formats',
    text: () => `-o table             for people: one line per resource, or one line per field (default)
-o json              the API objects, indented
-o yaml              the same as YAML
-o columns=id,ipv4   these columns in this order; --help lists the columns of a command
--no-header          no heading line

Data goes to stdout; notes, progress, and errors go to stderr. Progress is shown only on a terminal;
--quiet turns it off. Times are in UTC, and money is in US dollars.`,
  },
} as const;
type Topic = keyof typeof TOPICS;

export function isTopic(word: string | undefined): word is Topic {
  return word !== undefined && Object.hasOwn(TOPICS, word);
}

/** Shown below the help of `skerry` itself. */
export function programHelpFooter(): string {
  const topics = Object.entries(TOPICS).map(([name, { about }]) => [`skerry help ${name}`, about] as const);
  return `
Environment:
${indentLines(formatRows(ENVIRONMENT))}

Help topics:
${indentLines(formatRows(topics))}

Get started:
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

/** Longer lines are hard to read on a wide terminal. */
const WIDTH_MAX = 100;

/** Wraps paragraphs to the terminal's width; keeps a paragraph with two consecutive spaces as is. */
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
