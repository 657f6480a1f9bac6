/** Keeps text from elsewhere from controlling the terminal or changing the reading order. */
const CONTROLS =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are the target.
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Replaces control characters with a mark; keeps tabs and line breaks. */
export function printable(text: string): string {
  return text.replace(CONTROLS, '\ufffd');
}

export function hasControls(text: string): boolean {
  return text.search(CONTROLS) !== -1;
}

/** Escapes control characters in JSON, which keeps its values the same. */
export function printableJson(json: string): string {
  return json.replace(CONTROLS, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
