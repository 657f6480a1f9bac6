/** A customer's program in TypeScript. It is not run; only its types are checked after installation. */
import {
  type CallOptions,
  type EventType,
  isApiError,
  type Server,
  Skerry,
  verifyWebhook,
  type WebhookHeaders,
} from '@skerry/sdk';

export async function use(skerry: Skerry, options: CallOptions): Promise<string> {
  const order = { name: 'web-1', plan: 's1', region: 'par', image: 'img_1', ssh_keys: ['k_1'] };
  const made: Server = await skerry.servers.create(order, options);
  const running = await skerry.waitFor(made, 'running', { onLook: ({ status }) => status satisfies string });
  // @ts-expect-error A server has no status `ready`.
  await skerry.waitFor(made, 'ready');
  // @ts-expect-error There is no such filter.
  skerry.servers.list({ filter: { size: 'big' } });
  // @ts-expect-error Required fields are missing.
  await skerry.servers.create({ name: 'web-1' });
  for await (const { ipv4 } of skerry.servers.list({ filter: { status: 'running' }, sort: '-created_at' })) {
    if (ipv4 !== null) return ipv4.address;
  }
  const page = await skerry.snapshots.list().first();
  return running.ipv4?.address ?? page.data[0]?.name ?? (page.has_more ? 'more' : 'none');
}

export async function receive(request: Request, headers: WebhookHeaders): Promise<EventType | null> {
  try {
    const event = await verifyWebhook(await request.text(), headers, 'whsec_');
    return event.type;
  } catch (error) {
    if (isApiError(error, 'rate_limited')) return error.item('field')?.issue === 'required' ? null : 'ping';
    throw error;
  }
}

export const client = new Skerry({
  baseUrl: 'https://skerry.example',
  token: 't',
  fetch: (request) => fetch(request),
});
