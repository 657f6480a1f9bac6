/** Uploads that a customer can resume by choosing the same file. */
import { time } from '../parts/components.ts';
import { type FormContext, form } from '../parts/form.ts';
import { formatMib } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';

export interface UnfinishedUpload {
  readonly id: string;
  /** `upload.js` derives it from the file. */
  readonly fileKey: string;
  readonly sizeBytes: number;
  readonly receivedBytes: number;
  readonly startedAt: Date;
  readonly expiresAt: Date;
}

export function unfinishedUploads(uploads: readonly UnfinishedUpload[], forms: FormContext): Html | null {
  if (uploads.length === 0) return null;
  return html`${uploads.map((upload) => unfinishedUpload(upload, forms))}`;
}

function unfinishedUpload(upload: UnfinishedUpload, forms: FormContext): Html {
  const { id, fileKey, receivedBytes, sizeBytes, startedAt, expiresAt } = upload;
  return html`<div class="banner" data-upload="${fileKey}"><p>An upload of ${formatMib(sizeBytes)} from
${time(startedAt.toISOString())} is unfinished: ${formatMib(receivedBytes)} have arrived. Choose the same file
to resume. We keep it until ${time(expiresAt.toISOString())}.</p>
${form(
  forms,
  { name: 'discard', key: id, class: 'inline', multipart: true },
  html`<button class="quiet">Discard this upload</button>`,
)}</div>\n`;
}
