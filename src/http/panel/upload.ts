/** The form that uploads an image: its fields are read and the sender is let in before the first byte of the file is. */
import { once } from '../../domain/idempotency.ts';
import { createImage } from '../../domain/images/create.ts';
import type { ReceivedField } from '../../domain/images/upload.ts';
import { fail, InvalidRequest } from '../../kernel/fail.ts';
import { GIB_BYTES } from '../../kernel/sizes.ts';
import { LIMITS } from '../../spec/limits.ts';
import { PANEL_FIELDS, thingPath } from '../../spec/paths.ts';
import { cookieOf } from '../cookie.ts';
import type { Call } from '../endpoint.ts';
import { type Form, field } from '../form.ts';
import { receiveUpload, uploadBody } from '../v1/multipart.ts';
import { text, tickedIds } from './fields.ts';
import type { Done, OwnForm } from './page.ts';

/** `path`: the list of images. */
export function uploadForm(path: string): OwnForm {
  return {
    audit: 'image.create',
    rest: 'images.create',
    // It remembers a second click itself, by what the file holds.
    unkeyed: true,
    run: (call) => upload(call, ({ id }) => ({ to: thingPath(path, id), notice: 'image_uploaded' })),
  };
}

async function upload(call: Call, done: (image: { readonly id: string }) => Done): Promise<Done> {
  const { edge, request, form } = call;
  const { service } = edge;
  const actor = call.customer();
  const key = field(form, PANEL_FIELDS.once) || undefined;
  const received = await receiveUpload(request, service, actor, { key }).catch(inPlainWords);
  try {
    const whole = { ...received, fields: [...fieldsOf(form), ...received.fields] };
    if (whole.file?.sizeBytes === 0) fail('required', { field: 'file' }, 'Choose a file.');
    const { answer } = await once(
      service,
      {
        ...{ actor, key, status: 200 },
        credential: cookieOf(request) ?? '',
        request: { method: request.method, path: request.url, query: {}, body: uploadBody(whole) },
      },
      async (keep) =>
        done(
          await createImage(service, actor, whole, async (tx, image) => {
            await keep?.(tx, done(image as { readonly id: string }));
          }),
        ),
    );
    return answer.body as Done;
  } finally {
    await received.discard();
  }
}

/** A browser sends fields that were left empty, too. */
function fieldsOf(form: Form): ReceivedField[] {
  const texts = ['name', 'version', 'variant'].flatMap((name) => {
    const value = text(form, name);
    return typeof value === 'string' ? [{ name, value }] : [];
  });
  const arches = tickedIds(form, 'arch') as readonly string[];
  return [...texts, ...arches.map((value) => ({ name: 'arch', value }))];
}

function inPlainWords(error: unknown): never {
  const tooLarge =
    error instanceof InvalidRequest &&
    error.items.some(({ field: name, issue }) => name === 'file' && issue === 'max');
  if (!tooLarge) throw error;
  const most = LIMITS.imageUploadMaxBytes / GIB_BYTES;
  return fail('invalid_value', { field: 'file' }, `The file is too large: an image has at most ${most} GiB.`);
}
