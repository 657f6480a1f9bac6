/** `?next=…`: where somebody was going when he was asked to sign in. Only to a page of ours. */

const NEXT_PARAM = 'next';
const MAX_CHARS = 2_000;

/** The path that an address names as the next one, or null where it names none that is ours. */
export function nextPath(url: string): string | null {
  const start = url.indexOf('?');
  const path = start < 0 ? null : new URLSearchParams(url.slice(start)).get(NEXT_PARAM);
  return path !== null && isLocalPath(path) ? path : null;
}

/** Another page's address, with the same next one. */
export function withNextPath(path: string, next: string | null): string {
  return next === null ? path : `${path}?${new URLSearchParams({ [NEXT_PARAM]: next })}`;
}

/**
 * Whether a browser stays on this site when it is sent there. Two slashes or a backslash may begin another host, and dots before
 * them may hide that; what is no visible ASCII does not belong into a header.
 */
export function isLocalPath(path: string): boolean {
  return path.length <= MAX_CHARS && /^\/[\x21-\x7e]*$/.test(path) && !/\/\/|\\/.test(path);
}
