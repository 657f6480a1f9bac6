/** Image pages. */

import { readQuotas } from '../../../domain/customers/own-limits.ts';
import { createImage } from '../../../domain/images/create.ts';
import {
  completePartUpload,
  discardPartUpload,
  listUnfinishedUploads,
} from '../../../domain/images/parts.ts';
import { getImage, imageRemovalDay, listImages } from '../../../domain/images/read.ts';
import type { ReceivedField } from '../../../domain/images/upload.ts';
import { fail, InvalidRequest } from '../../../kernel/fail.ts';
import { GIB_BYTES } from '../../../kernel/sizes.ts';
import { imagesView, imageView } from '../../../panel/resources/images.ts';
import { LIMITS } from '../../../spec/limits.ts';
import { PANEL_FIELDS, PANEL_PATHS, PART_UPLOAD_FIELD, resourcePath } from '../../../spec/paths.ts';
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

/** It changes no resource. */
const DISCARD_FORM: CustomForm = {
  audit: null,
  run: async (call) => {
    await discardPartUpload(call.edge.service, call.customer(), field(call.form, PANEL_FIELDS.key));
    return { to: PANEL_PATHS.images, notice: 'upload_discarded' };
  },
};

export const IMAGE_PAGES: readonly PanelPage[] = [
  {
    path: PANEL_PATHS.images,
    access: 'customer',
    readOperations: ['images.list'],
    acceptsUpload: true,
    render: showImages,
    forms: { upload: uploadForm(PANEL_PATHS.images), discard: DISCARD_FORM },
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
  const quotas = await readQuotas(context.service, context.service.db, context.customer().customerId);
  const { customImages: count, customImagesGb: gb } = quotas;
  const limits = { count, gb, fileGb: LIMITS.imageUploadMaxBytes / GIB_BYTES };
  const unfinished = await listUnfinishedUploads(context.service, context.customer());
  return imagesView({ images, ...rest, limits, unfinished, forms: context.forms });
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
  const partUpload = field(form, PART_UPLOAD_FIELD);
  if (partUpload !== '') return await runPartUpload(call, { id: partUpload, key }, done);
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

/** Creates the image from a file that has arrived in parts. */
async function runPartUpload(
  call: Call,
  { id, key }: { readonly id: string; readonly key: string | undefined },
  done: (image: { readonly id: string }) => FormResult,
): Promise<FormResult> {
  const { edge, request, form } = call;
  const actor = call.customer();
  const complete = await completePartUpload(edge.service, actor, id);
  try {
    const fields = formFields(form);
    const credential = readSessionCookie(request) ?? '';
    const { response } = await runOnce(
      call,
      { actor, key, credential, body: { fields, upload: id } },
      async (caller) => {
        // A repeated request gets the stored response instead.
        if (!complete)
          fail('invalid_value', { field: 'file' }, 'The upload has ended. Choose the file again.');
        const discard = complete.release;
        return await createImage(edge.service, caller, { ...complete, discard, fields, files: 1 });
      },
      done,
    );
    return response.body as FormResult;
  } finally {
    await complete?.release();
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

export function rethrowTooLarge(error: unknown): never {
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
