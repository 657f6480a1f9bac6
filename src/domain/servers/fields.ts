/** Rules of a server's fields that a schema cannot say. */
import { invalidRequest, quotaExceeded } from '../../kernel/fail.ts';
import { LIMITS } from '../../spec/limits.ts';
import type { Service } from '../context.ts';

/** cloud-init user data out of its Base64 text; null when there is none. Refuses with 400. */
export function readUserData(text: string | null | undefined): Buffer | null {
  if (text === null || text === undefined || text === '') return null;
  const field = 'user_data_b64';
  const data = Buffer.from(text, 'base64');
  // One content has one spelling; whatever Node skips or forgives would differ.
  if (data.toString('base64') !== text) {
    invalidRequest(
      [{ field, issue: 'invalid_format' }],
      'user_data_b64 is Base64 with its padding, without line breaks.',
    );
  }
  const max = LIMITS.userDataMaxBytes;
  if (data.length > max) {
    invalidRequest(
      [{ field, issue: 'max_length', max }],
      `User data has at most ${max} bytes before Base64.`,
    );
  }
  return data;
}

/** Refuses more tags than a server may have. */
export function requireTagCount(service: Service, tags: readonly string[]): void {
  const limit = service.settings.quotas.tagsPerServer;
  if (tags.length > limit) {
    quotaExceeded('tagsPerServer', limit, { field: 'tags' });
  }
}
