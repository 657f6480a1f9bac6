/** A web page that uses the SDK. */
import { Skerry, verifyWebhook } from '@skerry/sdk';

interface PageInput {
  readonly baseUrl: string;
  readonly token: string;
  readonly webhook: {
    readonly body: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly secret: string;
  };
}

export async function use({ baseUrl, token, webhook }: PageInput): Promise<object> {
  const skerry = new Skerry({ baseUrl, token });
  const plans = [];
  for await (const { id } of skerry.plans.list({ page_size: 2 })) plans.push(id);
  const refused = await skerry.servers.get('srv_none').catch((error: unknown) => error);
  let seen = '';
  const onOpen = () => void skerry.tokens.create({ name: 'from a page', scope: 'read' });
  for await (const event of skerry.events.stream({ onOpen })) {
    seen = event.type;
    break;
  }
  const event = await verifyWebhook(webhook.body, new Headers(webhook.headers), webhook.secret);
  const { code, requestId } = refused as { readonly code: string; readonly requestId: string | null };
  return { plans: plans.length, code, named: requestId !== null, seen, event: event.type };
}
