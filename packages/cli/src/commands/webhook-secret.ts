import type { RotatedWebhook } from '@skerry/sdk';
import { type Command, command } from '../command.ts';
import { arg, flag } from '../options.ts';
import { type Column, fields } from '../output/format.ts';
import { createOnce, IDEMPOTENCY_OPTIONS } from '../terminal/create-once.ts';
import { WEBHOOK_COLUMNS } from './webhook.ts';

const WEBHOOK = arg('ID of the webhook', { completionKind: 'webhook' });

const ROTATED_COLUMNS: readonly Column<RotatedWebhook>[] = [
  ...fields<RotatedWebhook>('id', 'url'),
  { name: 'next_secret', value: ({ next_secret: secret }) => secret },
];

const rotate = command({
  name: 'webhook rotate-secret',
  about: 'Create the next signing secret, which is shown only once',
  operations: ['webhooks.rotate_secret'],
  args: { webhook: WEBHOOK },
  options: IDEMPOTENCY_OPTIONS,
  columns: ROTATED_COLUMNS,
  example: 'skerry webhook rotate-secret whk_aaaqk3m7qzb5x2l6v4t7n8wyja',
  run: async (context, { webhook, idempotencyKey: key }) => {
    const { skerry, output, terminal } = context;
    const lookupCommand = ['skerry', 'webhook', 'describe', webhook];
    const rotated = await createOnce(context, { key, subject: 'the next secret', lookupCommand }, (once) =>
      skerry.webhooks.rotateSecret(webhook, once),
    );
    output.show(rotated, ROTATED_COLUMNS);
    terminal.warn(
      'skerry: the secret is shown only once; store it now, and end the rotation when your receiver has it',
    );
  },
});

const end = command({
  name: 'webhook end-rotation',
  about: 'Replace the signing secret by the next one, or cancel its rotation',
  operations: ['webhooks.end_rotation'],
  args: { webhook: WEBHOOK },
  options: { cancel: flag('Keep the current secret and discard the next one') },
  columns: WEBHOOK_COLUMNS,
  example: 'skerry webhook end-rotation whk_aaaqk3m7qzb5x2l6v4t7n8wyja',
  run: async ({ skerry, output }, { webhook, cancel }) => {
    output.show(
      await skerry.webhooks.endRotation(webhook, { keep: cancel ? 'current' : 'next' }),
      WEBHOOK_COLUMNS,
    );
  },
});

export const WEBHOOK_SECRETS: readonly Command[] = [rotate, end];
