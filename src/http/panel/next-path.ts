/** `?next=…`: the local page to return to after signing in. */

const NEXT_PARAM = 'next';
const MAX_CHARS = 2_000;

/** Returns the next path in the URL, or null if there is none or it is not local. */
export function nextPath(url: string): string | null {
  const start = url.indexOf('?');
  const path = start < 0 ? null : new URLSearchParams(url.slice(start)).get(NEXT_PARAM);
  return path !== null && isLocalPath(path) ? path : null;
}

/** Adds the same next path to another page's path. */
export function withNextPath(path: string, next: string | null): string {
  return next === null ? path : `${path}?${new URLSearchParams({ [NEXT_PARAM]: next })}`;
}

/**
 * Whether a browser stays on this site when it follows the path. Two slashes or a backslash can start another
 * host, and dots before them can hide that. Only visible ASCII belongs in a header.
 */
export function isLocalPath(path: string): boolean {
  return path.length <= MAX_CHARS && /^\/[\x21-\x7e]*$/.test(path) && !/\/\/|\\/.test(path);
}
