/** Rules for a server's fields that a schema cannot express. */
import { invalidRequest, quotaExceeded } from '../../kernel/fail.ts';
import { LIMITS } from '../../spec/limits.ts';
import type { Service } from '../context.ts';

/** Decodes cloud-init user data from Base64; null if there is none. Refuses with 400. */
export function readUserData(text: string | null | undefined): Buffer | null {
  if (text === null || text === undefined || text === '') return null;
  const field = 'user_data_b64';
  const data = Buffer.from(text, 'base64');
  // Accept canonical Base64 only: Node skips invalid characters, and the round trip reveals them.
  if (data.toString('base64') !== text) {
    invalidRequest(
      [{ field, issue: 'invalid_format' }],
      'user_data_b64 must be Base64 with padding and without line breaks.',
    );
  }
  const max = LIMITS.userDataMaxBytes;
  if (data.length > max) {
    invalidRequest(
      [{ field, issue: 'max_length', max }],
      `User data can have at most ${max} bytes before Base64 encoding.`,
    );
  }
  return data;
}

/** Refuses more tags than the quota allows. */
export function requireTagCount(service: Service, tags: readonly string[]): void {
  const limit = service.settings.quotas.tagsPerServer;
  if (tags.length > limit) {
    quotaExceeded('tagsPerServer', limit, { field: 'tags' });
  }
}
