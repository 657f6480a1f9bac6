/** What comes from elsewhere must not steer the terminal, nor turn the order of what is read. */
const CONTROLS =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** With a mark in place of each character that would steer; tabs and line ends stay. */
export function printable(text: string): string {
  return text.replace(CONTROLS, '\ufffd');
}

export function hasControls(text: string): boolean {
  return text.search(CONTROLS) !== -1;
}

/** JSON that holds the same values, without a character that a terminal would take for more than a letter. */
export function printableJson(json: string): string {
  return json.replace(CONTROLS, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
