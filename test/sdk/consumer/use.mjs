// A customer's program in plain JavaScript. packed.test.ts checks its output.
import { deliveryId, isApiError, Skerry, verifyWebhook } from '@skerry/sdk';

const { SKERRY_API_URL: baseUrl = '', SKERRY_TOKEN: token = '', WEBHOOK = '{}' } = process.env;
const skerry = new Skerry({ baseUrl, token });
const { signal } = new AbortController();

const regions = await skerry.regions.list({ page_size: 1 }, { signal }).all();
const many = await Promise.all(Array.from({ length: 30 }, () => skerry.plans.get('s1', { signal })));
const made = await skerry.tokens.create({ name: 'from a package', scope: 'read' });
const missing = await skerry.servers.get('srv_none').catch((error) => error);
let seen = '';
for await (const event of skerry.events.stream({ after: 0 })) {
  seen = event.type;
  break;
}
const { body, headers, secret } = JSON.parse(WEBHOOK);
const event = await verifyWebhook(new TextEncoder().encode(body), headers, secret);
const results = {
  regions: regions.map(({ id }) => id).sort(),
  plans: new Set(many.map(({ id }) => id)).size,
  made: made.object,
  missing: isApiError(missing, 'not_found'),
  seen,
  event: event.type,
  delivery: deliveryId(headers),
};
process.stdout.write(`${JSON.stringify(results)}\n`);
