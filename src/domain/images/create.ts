/** Creates an image from a received file and the text parts of its upload. */

import { type ErrorItem, fail, invalidRequest } from '../../kernel/fail.ts';
import { isPrintable } from '../../kernel/printable.ts';
import { GIB_BYTES } from '../../kernel/sizes.ts';
import { LIMITS } from '../../spec/limits.ts';
import { ARCHES, type Image } from '../../spec/schemas/image.ts';
import { lockCustomer } from '../../store/customers/customers.ts';
import { endUpload, insertCustomImage, readImageUsage } from '../../store/images/images.ts';
import { recordDone } from '../actions/begin.ts';
import { beganAction } from '../actions/object.ts';
import type { CustomerActor, Service } from '../context.ts';
import { readQuotas } from '../customers/own-limits.ts';
import { recordAudit } from '../record.ts';
import { requireInsideNew } from '../tokens/limits/active.ts';
import { imageObject } from './read.ts';
import { type ReceivedUpload, requireImageQuota } from './upload.ts';

/**
 * Creates an image from a received file. Refuses invalid parts with `invalid_request`, a file that is not ISO
 * 9660 with `invalid_value`, and an image over the quota with `limit_reached`. Afterward, the caller always
 * calls `received.discard()`.
 */
export async function createImage(
  service: Service,
  actor: CustomerActor,
  received: ReceivedUpload,
): Promise<Image> {
  requireInsideNew(actor.limits, {});
  const fields = readFields(received);
  const file = received.file ?? fail('required', { field: 'file' });
  if (!file.isIso) {
    fail(
      'invalid_value',
      { field: 'file' },
      'The file is not an ISO 9660 image. Upload a bootable .iso file.',
    );
  }
  return await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    const { customerId } = actor;
    await lockCustomer(tx, customerId);
    const quotas = await readQuotas(service, tx, customerId);
    requireImageQuota(quotas, await readImageUsage(tx, customerId), file.sizeBytes);
    // Another process saw this upload's lease expire and removed the file: the client must send it again,
    // and `maintenance` is the code that asks for that.
    if (!(await endUpload(tx, received.id))) fail('maintenance', { retry_after_s: 1 });
    const today = now.toISOString().slice(0, 10);
    const row = {
      id: received.id,
      ...fields,
      version: fields.version ?? today,
      size_gb: sizeGb(file.sizeBytes),
      released_at: today,
    };
    await insertCustomImage(tx, { ...row, customerId, sha256: file.sha256, sizeBytes: file.sizeBytes });
    const done = { customerId, resourceId: row.id, command: 'image.create', actor, now } as const;
    const action = beganAction(await recordDone(tx, done));
    const shown = imageObject({
      ...row,
      type: 'custom',
      family: 'custom',
      cloud_init: false,
      deprecated_at: null,
    });
    const object = { ...shown, action };
    await recordAudit(tx, { actor, action: 'image.create', resource: object.id }, now);
    await actor.saveResponse?.(tx, object);
    return object;
  });
}

/** Returns GiB with two decimals, at least 0.01. */
function sizeGb(bytes: number): string {
  return Math.max(bytes / GIB_BYTES, 0.01).toFixed(2);
}

type Arch = (typeof ARCHES)[number];

interface ImageFields {
  readonly name: string | null;
  readonly version: string | null;
  readonly variant: string | null;
  readonly arch: readonly Arch[];
}

const TEXT_FIELDS = ['name', 'version', 'variant'] as const;

/** Whether an upload has a part of this name. */
export function isImagePart(name: string): boolean {
  return name === 'file' || name === 'arch' || isTextField(name);
}

/** Throws 400 with every invalid part: unknown, duplicate, empty, too long, unprintable, or no `file`. */
function readFields({ fields, file, files }: ReceivedUpload): ImageFields {
  const items: ErrorItem[] = [];
  const texts = new Map<string, string>();
  const arch = new Set<Arch>();
  const reportDuplicate = (field: string) => items.push({ field, issue: 'max_items', max: 1 });
  for (const { name, value } of fields) {
    if (name === 'arch') items.push(...addArch(arch, value));
    else if (!isTextField(name)) items.push({ field: name, issue: 'unknown_key' });
    else if (texts.has(name)) reportDuplicate(name);
    else {
      texts.set(name, value);
      items.push(...validateText(name, value));
    }
  }
  if (!file) items.push({ field: 'file', issue: 'required' });
  if (files > 1) reportDuplicate('file');
  if (items.length > 0) invalidRequest(firstPerField(items));
  const text = (name: (typeof TEXT_FIELDS)[number]) => texts.get(name)?.normalize('NFC') ?? null;
  const named = { name: text('name'), version: text('version'), variant: text('variant') };
  return { ...named, arch: arch.size > 0 ? ARCHES.filter((word) => arch.has(word)) : ['amd64'] };
}

function isTextField(name: string): name is (typeof TEXT_FIELDS)[number] {
  return (TEXT_FIELDS as readonly string[]).includes(name);
}

/** Accepts several architectures, separated by commas or in one part each. */
function addArch(arch: Set<Arch>, value: string): ErrorItem[] {
  for (const word of value.split(',').map((piece) => piece.trim())) {
    const known = ARCHES.find((each) => each === word);
    if (!known) return [{ field: 'arch', issue: 'invalid_value', allowed: ARCHES }];
    arch.add(known);
  }
  return [];
}

function validateText(field: string, value: string): ErrorItem[] {
  const max = LIMITS.nameMaxChars;
  if (value.trim() === '') return [{ field, issue: 'min_length', min: 1 }];
  if ([...value.normalize('NFC')].length > max) return [{ field, issue: 'max_length', max }];
  return value.isWellFormed() && isPrintable(value) ? [] : [{ field, issue: 'invalid_format' }];
}

function firstPerField(items: readonly ErrorItem[]): ErrorItem[] {
  const first = new Map<string, ErrorItem>();
  for (const item of items) if (!first.has(item.field)) first.set(item.field, item);
  return [...first.values()];
}
