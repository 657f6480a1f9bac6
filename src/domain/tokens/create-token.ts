import { randomBytes } from 'node:crypto';
import { fail } from '../../kernel/fail.ts';
import { base32, newId } from '../../kernel/ids.ts';
import { isPrintable } from '../../kernel/printable.ts';
import { digest } from '../../kernel/secrets.ts';
import { parseRfc3339, SECOND_MS } from '../../kernel/time.ts';
import { LIMITS } from '../../spec/limits.ts';
import type { ApiToken } from '../../spec/schemas/api-token.ts';
import { isScope } from '../../spec/scopes.ts';
import { lockCustomer } from '../../store/customers.ts';
import { countTokens, insertToken } from '../../store/tokens.ts';
import type { CustomerActor, Service } from '../context.ts';
import { checkPassword } from '../customers/check-password.ts';
import { recordAudit, recordEvent } from '../record.ts';
import { tokenObject } from './object.ts';

/** A form as typed; a missing field is an empty text. */
export interface TokenForm {
  readonly name: string;
  readonly scope: string;
  /** RFC 3339; empty: the token does not expire. */
  readonly expiresAt: string;
  readonly currentPassword: string;
}

export interface CreatedToken {
  readonly token: ApiToken;
  /** `<prefix>_live_<52 characters>`: shown this once, only its digest is kept. */
  readonly plaintext: string;
}

const BLANK = /^\s*$/u;

/** Makes an API token of any scope, once its owner has given the password again. */
export async function createToken(
  service: Service,
  actor: CustomerActor,
  form: TokenForm,
): Promise<CreatedToken> {
  const name = requireName(form.name);
  const scope = isScope(form.scope) ? form.scope : fail('bad_scope');
  const expiresAt = form.expiresAt === '' ? null : requireExpiry(form.expiresAt, service.clock.now());
  const checked = await checkPassword(service, actor, form.currentPassword);
  const plaintext = `${service.settings.tokenPrefix}_live_${base32(randomBytes(32))}`;
  return await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    const current = await lockCustomer(tx, actor.customerId);
    if (current?.password_hash !== checked) fail('bad_credentials');
    const { quotas } = service.settings;
    if ((await countTokens(tx, actor.customerId, quotas.tokens)) >= quotas.tokens) {
      fail('limit_reached', { limit: quotas.tokens });
    }
    const row = await insertToken(tx, {
      id: newId(now),
      customerId: actor.customerId,
      name,
      scope,
      digest: digest(plaintext),
      expiresAt,
      createdAt: now,
    });
    const token = tokenObject(row);
    await recordAudit(tx, { actor, action: 'token.create', resource: token.id }, now);
    await recordEvent(tx, { customerId: actor.customerId, type: 'token.created', object: token }, now);
    return { token, plaintext };
  });
}

function requireName(text: string): string {
  const name = text.normalize('NFC');
  const chars = [...name].length;
  if (chars > LIMITS.nameMaxChars || BLANK.test(name) || !isPrintable(name)) fail('bad_name');
  return name;
}

/** In whole seconds, so that the time shown is the time it ends. A clock of the caller's may be 30 seconds off. */
function requireExpiry(text: string, now: Date): Date {
  const time = parseRfc3339(text);
  if (!time || time.getUTCFullYear() > 9_999) fail('bad_expiry');
  if (time.getTime() <= now.getTime() - LIMITS.clockSkewS * SECOND_MS) fail('bad_expiry');
  return new Date(Math.floor(time.getTime() / SECOND_MS) * SECOND_MS);
}
