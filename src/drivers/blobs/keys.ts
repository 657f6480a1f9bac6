/** Keys of blobs: our own UUIDs. A name from anyone else must never become a path or an object. */

const KEY = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function isBlobKey(name: string): boolean {
  return KEY.test(name);
}

export function requireBlobKey(key: string): string {
  if (!isBlobKey(key)) throw new Error('invalid blob key');
  return key;
}
