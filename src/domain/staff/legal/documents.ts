/** Documents of legal orders: recognized by their content, bounded, and sealed. */
import { fail } from '../../../kernel/fail.ts';
import { newId, parseId } from '../../../kernel/ids.ts';
import { SEALED } from '../../../spec/sealed.ts';
import { LEGAL_FILE_TYPES, LEGAL_LIMITS, type LegalFileType } from '../../../spec/staff/legal.ts';
import {
  findLegalDocument,
  insertLegalDocument,
  listLegalDocuments,
  lockLegalOrder,
} from '../../../store/staff/legal.ts';
import type { Service } from '../../context.ts';
import { cleanFileName, recognizeFile } from '../../customers/tickets/file-types.ts';
import { orderNotFound, requireOrderId } from './fields.ts';
import { type LegalOrder, readLegalOrder } from './read.ts';

type Deps = Pick<Service, 'db' | 'keys' | 'clock'>;

const FILE_RULES = {
  types: LEGAL_FILE_TYPES,
  maxBytes: LEGAL_LIMITS.documentMaxBytes,
  refusal: 'Send a PDF, a PNG or JPEG image, or a plain text file in UTF-8.',
};

/** Also of a closed order: answers arrive later. Fails with `not_found`, `invalid_value`, `limit_reached`. */
export async function attachLegalDocument(
  service: Deps,
  shownId: string,
  { name: wanted, content }: { readonly name: string; readonly content: Buffer },
): Promise<LegalOrder> {
  const { db, keys, clock } = service;
  const orderId = requireOrderId(shownId);
  const type = recognizeFile(content, FILE_RULES);
  const name = cleanFileName(wanted, type, LEGAL_LIMITS.documentNameMaxChars);
  await db.transaction(async (tx) => {
    if (!(await lockLegalOrder(tx, orderId))) orderNotFound();
    const limit = LEGAL_LIMITS.documentsMax;
    if ((await listLegalDocuments(tx, orderId)).length >= limit) {
      fail('limit_reached', { limit }, `An order can have ${limit} documents.`);
    }
    const now = clock.now();
    const id = newId(now);
    await insertLegalDocument(tx, {
      ...{ id, order_id: orderId, type, size_bytes: content.length, created_at: now },
      name_sealed: keys.seal(SEALED.legalDocumentName, id, name),
      content_sealed: keys.seal(SEALED.legalDocument, id, content),
    });
  });
  return await readLegalOrder(service, orderId);
}

export interface LegalDocumentContent {
  readonly name: string;
  readonly type: LegalFileType;
  readonly content: Buffer;
}

/** Fails with `not_found`. */
export async function readLegalDocument(
  { db, keys }: Pick<Deps, 'db' | 'keys'>,
  shownId: string,
  documentId: string,
): Promise<LegalDocumentContent> {
  const id = parseId('legalDocument', documentId);
  const orderId = requireOrderId(shownId);
  const row = id === undefined ? undefined : await findLegalDocument(db, { orderId, id });
  if (!row) fail('not_found', {}, 'There is no document with this id.');
  return {
    name: keys.open(SEALED.legalDocumentName, row.id, row.name_sealed).toString(),
    type: row.type,
    content: Buffer.from(keys.open(SEALED.legalDocument, row.id, row.content_sealed)),
  };
}
