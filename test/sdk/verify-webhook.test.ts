import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, it } from 'node:test';
import { verifyWebhook, type WebhookHeaders } from '@skerry/sdk';

/** A signature computed with openssl, as in the test of the guide. These values are fixed. */
const SECRET = 'whsec_2vj3kq5x7m4n6p8r2t4v6x8z2b4d6f8h2k4m6p8r2t4v6x8z2b4d';
const T = 1_769_860_800;
const BODY =
  '{"id":"evt_aaaqk3m7qzb5x2l6v4t7n8wyja","object":"event","type":"ping",' +
  '"created_at":"2026-01-31T12:00:00Z","data":{"webhook":{"note":"✓ é"}}}';
const HEADER = `t=${T},v1=ebec99da3fbfd592991270537a35ac92b32fa04bd6a0d4e3202b99cbdbb68569`;

const verify = (
  body: string | Uint8Array | ArrayBuffer,
  headers: WebhookHeaders,
  secret = SECRET,
  offsetMs = 0,
) => verifyWebhook(body, headers, secret, { nowMs: T * 1_000 + offsetMs });
const UNVERIFIED = { name: 'WebhookVerificationError' };

describe('verifyWebhook', () => {
  it('verifyWebhook accepts text and bytes, and headers of fetch, of Node, and in any case', async () => {
    const bytes = new TextEncoder().encode(BODY);
    for (const body of [BODY, Buffer.from(BODY), bytes, bytes.buffer]) {
      for (const headers of [
        new Headers({ 'X-Service-Signature': HEADER }),
        { 'x-service-signature': HEADER },
        { 'X-Service-Signature': [HEADER] },
        { host: 'example.org', 'X-SERVICE-SIGNATURE': HEADER },
      ]) {
        assert.equal((await verify(body, headers)).id, 'evt_aaaqk3m7qzb5x2l6v4t7n8wyja');
      }
    }
  });

  it('a signature is valid for 300 seconds before and after its time', async () => {
    const headers = { 'x-service-signature': HEADER };
    for (const offsetMs of [0, 300_999, -300_000]) await verify(BODY, headers, SECRET, offsetMs);
    for (const offsetMs of [301_000, -300_001]) {
      await assert.rejects(verify(BODY, headers, SECRET, offsetMs), UNVERIFIED);
    }
    const toleranceS = 1_000_000_000;
    await verifyWebhook(BODY, headers, SECRET, { toleranceS });
  });

  it('verifyWebhook accepts the next secret while the secret is rotated', async () => {
    const other = `t=${T},v1=${createHmac('sha256', 'another').update(`${T}.${BODY}`).digest('hex')}`;
    const rotating = { 'x-service-signature': other, 'x-service-signature-next': HEADER };
    await verify(BODY, rotating);
    await verify(BODY, rotating, 'another');
    await assert.rejects(verify(BODY, rotating, 'a third'), UNVERIFIED);
    await assert.rejects(verify(BODY, rotating, SECRET, 301_000), UNVERIFIED);
    await assert.rejects(verify(BODY, { 'x-service-signature-next': HEADER }), UNVERIFIED);
  });

  it('verifyWebhook rejects another body, secret, or time, and invalid headers', async () => {
    const headers = { 'x-service-signature': HEADER };
    await assert.rejects(verify(BODY.replace('ping', 'pong'), headers), UNVERIFIED);
    await assert.rejects(verify(BODY, headers, `${SECRET}x`), UNVERIFIED);
    const later = HEADER.replace(String(T), String(T + 1));
    const other = createHmac('sha256', 'another').update(`${T}.${BODY}`).digest('hex');
    for (const header of [
      later,
      `t=${T},v1=${other}`,
      '',
      't=,v1=',
      `t=${T}`,
      HEADER.toUpperCase(),
      `${HEADER}00`,
      `t=1e9,${HEADER.slice(HEADER.indexOf('v1'))}`,
    ]) {
      await assert.rejects(verify(BODY, { 'x-service-signature': header }), UNVERIFIED, header);
    }
    await assert.rejects(verify(BODY, {}), UNVERIFIED);
    await assert.rejects(verify(BODY, new Headers()), UNVERIFIED);
  });

  it('verifyWebhook rejects a parsed body and an empty secret with a clear message', async () => {
    const headers = { 'x-service-signature': HEADER };
    await assert.rejects(verify(JSON.parse(BODY), headers), { name: 'SkerryError', message: /unparsed/ });
    const { buffer } = new TextEncoder().encode(BODY.padEnd(BODY.length + (BODY.length % 2)));
    for (const body of [new DataView(buffer), new Uint16Array(buffer.slice(0, 2)), null]) {
      await assert.rejects(verify(body as unknown as string, headers), { message: /a string, Uint8Array/ });
    }
    for (const secret of ['', undefined as unknown as string]) {
      await assert.rejects(verifyWebhook(BODY, headers, secret), { message: 'secret is empty' });
    }
  });

  it('a signed body that is not JSON throws a plain SkerryError', async () => {
    const v1 = createHmac('sha256', SECRET).update(`${T}.<html>`).digest('hex');
    await assert.rejects(verify('<html>', { 'x-service-signature': `t=${T},v1=${v1}` }), {
      name: 'SkerryError',
      message: /not JSON/,
    });
  });
});
