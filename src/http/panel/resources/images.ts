/** Image pages. */

import { createImage } from '../../../domain/images/create.ts';
import { getImage, imageRemovalDay, listImages } from '../../../domain/images/read.ts';
import type { ReceivedField } from '../../../domain/images/upload.ts';
import { fail, InvalidRequest } from '../../../kernel/fail.ts';
import { GIB_BYTES } from '../../../kernel/sizes.ts';
import { imagesView, imageView } from '../../../panel/resources/images.ts';
import { LIMITS } from '../../../spec/limits.ts';
import { PANEL_FIELDS, PANEL_PATHS, resourcePath } from '../../../spec/paths.ts';
import type { Call } from '../../admission/forms.ts';
import { runOnce } from '../../admission/once.ts';
import { readSessionCookie } from '../../cookie.ts';
import { type Form, field } from '../../form.ts';
import { receiveUpload, uploadFingerprint } from '../../v1/multipart.ts';
import { checkedIds, text } from '../field-readers.ts';
import { readList } from '../list.ts';
import {
  type CustomForm,
  type FormResult,
  type PageContext,
  type PanelPage,
  page,
  restForm,
} from '../page-types.ts';
import { readLatestActions } from '../servers/actions.ts';

export const IMAGE_PAGES: readonly PanelPage[] = [
  {
    path: PANEL_PATHS.images,
    access: 'customer',
    readOperations: ['images.list'],
    acceptsUpload: true,
    render: showImages,
    forms: { upload: uploadForm(PANEL_PATHS.images) },
  },
  page({
    path: `${PANEL_PATHS.images}/{id}`,
    access: 'customer',
    readOperations: ['images.get', 'actions.list'],
    render: async (context) => {
      const image = await getImage(context.service, context.customer(), context.params.id);
      const { deprecated_at: deprecatedAt } = image;
      return imageView({
        image,
        actions: image.type === 'custom' ? await readLatestActions(context, image.id) : [],
        removedOn: deprecatedAt && imageRemovalDay(deprecatedAt),
        forms: context.forms,
      });
    },
    forms: {
      delete: restForm({
        operation: 'images.delete',
        done: () => ({ to: `${PANEL_PATHS.images}?type=custom`, notice: 'image_deleted' }),
      }),
    },
  }),
];

async function showImages(context: PageContext) {
  const list = await readList(context, 'images.list', (page) =>
    listImages(context.service, context.customer(), page),
  );
  const { items: images, ...rest } = list;
  const { customImages: count, customImagesGb: gb } = context.service.settings.quotas;
  const limits = { count, gb, fileGb: LIMITS.imageUploadMaxBytes / GIB_BYTES };
  return imagesView({ images, ...rest, limits, forms: context.forms });
}

/** Its fields are read, and the customer is admitted, before the first byte of the file. */
export function uploadForm(path: string): CustomForm {
  return {
    audit: 'image.create',
    rest: 'images.create',
    // It deduplicates second clicks on its own, by the content of the file.
    skipIdempotency: true,
    run: (call) => runUpload(call, ({ id }) => ({ to: resourcePath(path, id), notice: 'image_uploaded' })),
  };
}

async function runUpload(
  call: Call,
  done: (image: { readonly id: string }) => FormResult,
): Promise<FormResult> {
  const { edge, request, form } = call;
  const { service } = edge;
  const actor = call.customer();
  const key = field(form, PANEL_FIELDS.idempotencyKey) || undefined;
  const received = await receiveUpload(request, service, actor, { key }).catch(rethrowTooLarge);
  try {
    const completeUpload = { ...received, fields: [...formFields(form), ...received.fields] };
    if (completeUpload.file?.sizeBytes === 0) fail('required', { field: 'file' }, 'Choose a file.');
    const credential = readSessionCookie(request) ?? '';
    const { response } = await runOnce(
      call,
      { actor, key, credential, body: uploadFingerprint(completeUpload) },
      (caller) => createImage(service, caller, completeUpload),
      done,
    );
    return response.body as FormResult;
  } finally {
    await received.discard();
  }
}

/** Omits empty fields, which browsers send as well. */
function formFields(form: Form): ReceivedField[] {
  const texts = ['name', 'version', 'variant'].flatMap((name) => {
    const value = text(form, name);
    return typeof value === 'string' ? [{ name, value }] : [];
  });
  const arches = checkedIds(form, 'arch') as readonly string[];
  return [...texts, ...arches.map((value) => ({ name: 'arch', value }))];
}

function rethrowTooLarge(error: unknown): never {
  const tooLarge =
    error instanceof InvalidRequest &&
    error.items.some(({ field: name, issue }) => name === 'file' && issue === 'max');
  if (!tooLarge) throw error;
  const maxGib = LIMITS.imageUploadMaxBytes / GIB_BYTES;
  return fail(
    'invalid_value',
    { field: 'file' },
    `The file is too large. An image can have at most ${maxGib} GiB.`,
  );
}
