/**
 * The signing secret of a webhook, and its rotation (DECISIONS "Rotation of a webhook's secret"): until its
 * customer ends the rotation, the current and the next secret both sign each delivery.
 */
import { randomBytes } from 'node:crypto';
import { fail, notFound } from '../../kernel/fail.ts';
import { base32, parseId } from '../../kernel/ids.ts';
import type { Sql } from '../../kernel/sql.ts';
import type { EndRotation, RotatedWebhook, Webhook } from '../../spec/schemas/webhook.ts';
import { scopeCovers } from '../../spec/scopes.ts';
import { SEALED } from '../../spec/sealed.ts';
import { incrementQueueRevision } from '../../store/webhooks/queues.ts';
import {
  lockWebhook,
  readSealedSecrets,
  updateSecrets,
  type WebhookRow,
} from '../../store/webhooks/webhooks.ts';
import type { ScopedActor, Service } from '../context.ts';
import { recordAudit } from '../record.ts';
import { requireCredentials } from './credentials.ts';
import { webhookObject } from './read.ts';

const SECRET_BYTES = 32;
const HINT_CHARS = 4;

export function newWebhookSecret(): string {
  return `whsec_${base32(randomBytes(SECRET_BYTES))}`;
}

/** Returns the part of a secret that stays visible. */
export function hintOf(secret: string): string {
  return secret.slice(-HINT_CHARS);
}

/**
 * Begins a rotation, or begins it again with another secret. The response contains the next secret, only
 * here. Fails with `forbidden_scope` for a token with less scope than the webhook.
 */
export async function rotateWebhookSecret(
  service: Service,
  actor: ScopedActor,
  shownId: string,
): Promise<RotatedWebhook> {
  const secret = newWebhookSecret();
  return await service.db.transaction(async (tx) => {
    const { row, sealed } = await lockForRotation(tx, actor, shownId);
    const next = { ...row, next_secret_hint: hintOf(secret) };
    await updateSecrets(tx, {
      ...next,
      secret_sealed: sealed.secret_sealed,
      next_secret_sealed: service.keys.seal(SEALED.nextWebhookSecret, row.id, secret),
    });
    await incrementQueueRevision(tx, row.id);
    const webhook = webhookObject(next);
    const entry = { actor, action: 'webhook.rotate_secret', resource: webhook.id } as const;
    await recordAudit(tx, entry, service.clock.now());
    const rotated = { ...webhook, next_secret: secret };
    await actor.saveResponse?.(tx, rotated);
    return rotated;
  });
}

/**
 * Ends the rotation and keeps one of the two secrets. Fails with `conflict_state` if none is in progress, and
 * with `forbidden_scope` for a token with less scope than the webhook.
 */
export async function endWebhookRotation(
  service: Service,
  actor: ScopedActor,
  shownId: string,
  { keep = 'next' }: EndRotation,
): Promise<Webhook> {
  const { keys } = service;
  return await service.db.transaction(async (tx) => {
    const { row, sealed } = await lockForRotation(tx, actor, shownId);
    const { secret_sealed, next_secret_sealed: next } = sealed;
    if (next === null) fail('conflict_state', {}, 'The secret of this webhook is not being rotated.');
    const moved = () => {
      const secret = keys.open(SEALED.nextWebhookSecret, row.id, next);
      return keys.seal(SEALED.webhookSecret, row.id, secret.toString());
    };
    const hint = keep === 'next' ? (row.next_secret_hint ?? '') : row.secret_hint;
    const ended = { ...row, secret_hint: hint, next_secret_hint: null };
    await updateSecrets(tx, {
      ...{ ...ended, secret_sealed: keep === 'next' ? moved() : secret_sealed },
      next_secret_sealed: null,
    });
    await incrementQueueRevision(tx, row.id);
    const webhook = webhookObject(ended);
    const entry = { actor, action: 'webhook.end_rotation', resource: webhook.id } as const;
    await recordAudit(tx, entry, service.clock.now());
    await actor.saveResponse?.(tx, webhook);
    return webhook;
  });
}

async function lockForRotation(tx: Sql, actor: ScopedActor, shownId: string) {
  const id = parseId('webhook', shownId) ?? notFound('webhook');
  const row: WebhookRow = (await lockWebhook(tx, actor.customerId, id)) ?? notFound('webhook');
  await requireCredentials(tx, actor);
  if (!scopeCovers(actor.scope, row.scope)) {
    fail(
      'forbidden_scope',
      {},
      `A token with scope ${actor.scope} cannot rotate the secret of a webhook with scope ${row.scope}.`,
    );
  }
  const sealed = (await readSealedSecrets(tx, id)) ?? notFound('webhook');
  return { row, sealed };
}
