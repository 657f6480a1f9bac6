/** Words and phrases that we don't use, with the replacement for each. STYLE.md describes the voice. */
import type { Tree } from '../support/project-files.ts';

/** Each phrase we don't write, and what to write instead. */
const PHRASES: readonly { readonly pattern: RegExp; readonly say: string }[] = [
  { pattern: /\banew\b/i, say: 'again' },
  { pattern: /\bby (?:it|them)sel(?:f|ves)\b/i, say: 'automatically, on its own' },
  { pattern: /\bsuffic(?:e|es|ed)\b/i, say: 'be enough, be sufficient' },
  { pattern: /\bwho(?:so)?m?ever\b/i, say: 'anyone who, the client that' },
  { pattern: /\bwhatever\b/i, say: 'anything that, any' },
  { pattern: /(?<!\bat )\bones? that\b/i, say: 'the noun itself' },
  { pattern: /\bof what\b/i, say: 'the noun itself' },
  { pattern: /\b(?:is|are|was|were|be) told\b/i, say: 'learns, is notified' },
  {
    pattern: /^\s*(?:\/\*\*|\/\/|\*|#|--) What\b(?![^.]*\?)/,
    say: 'a noun or a verb, not a clause with "what"',
  },
  { pattern: /\b(?:test|it|describe)\(\s*['"`]what\b/i, say: 'a sentence with a noun as its subject' },
  { pattern: /\bputs? down\b/i, say: 'save, record' },
  { pattern: /\bbeside\b/i, say: 'next to' },
  { pattern: /\bof late\b/i, say: 'recently' },
  { pattern: /, say\b(?!s)/, say: 'for example, such as' },
  { pattern: /\bLOOK\b/, say: 'WARN or FAIL' },
  { pattern: /\b(?:he|him|his|himself)\b/i, say: 'they, them, their' },
  // `nobody` is also a Unix account: as a quoted name, an owner or part of a URL.
  { pattern: /(?<!['"=/])\b(?:some|any|no)body\b(?!['":@])/i, say: 'someone, anyone, no one' },
  { pattern: /\bin vain\b/i, say: 'without success' },
  { pattern: /\bget(?:s|ting)? on\b(?! (?:the|a)\b)/i, say: 'progress' },
  { pattern: /\bleads? nowhere\b/i, say: 'not found' },
  { pattern: /\bstands? (?:there|here)\b/i, say: 'is shown below, appears' },
  { pattern: /\bfor ever\b/i, say: 'forever, permanently' },
  { pattern: /\b(?:no|not|nothing|never)\b[^.;:]{0,40}\bany ?more\b/i, say: 'no longer' },
  { pattern: /\ball the same\b/i, say: 'anyway' },
  { pattern: /\breckon(?:s|ed|ing)?\b/i, say: 'compute, count' },
  { pattern: /\b(?:lest|whence|wherein|thereof|forthwith|hitherto|ought)\b/i, say: 'a word in current use' },
  { pattern: /\bcomes? to an end\b/i, say: 'ends, expires' },
  { pattern: /\be-mails?\b/i, say: 'email' },
  {
    pattern: /\b(?:colour|behaviour|neighbour|licence|favour|honour|centre|cheque|grey)s?\b/i,
    say: 'the US spelling',
  },
];

/** One line per phrase found: `path:line: "phrase": say …`. */
export function wordFaults(files: Tree): string[] {
  return [...files].flatMap(([path, text]) =>
    text.split('\n').flatMap((line, index) =>
      PHRASES.flatMap(({ pattern, say }) => {
        const found = pattern.exec(line)?.[0].trim();
        return found === undefined ? [] : [`${path}:${index + 1}: "${found}": say ${say}`];
      }),
    ),
  );
}
