/** The list of images, official and own, with a form to upload one, and the page of one. */
import { LIMITS } from '../spec/limits.ts';
import { PANEL_PATHS, resourcePath } from '../spec/paths.ts';
import { ARCHES, IMAGE_TYPES, type Image } from '../spec/schemas/image.ts';
import { collapsibleForm } from './collapsible-form.ts';
import { day, detailList, emptyState, pager, section, statusBadge, table } from './components.ts';
import { Fields, type FormContext, form } from './form.ts';
import { type Html, html } from './html.ts';
import type { View } from './layout.ts';
import { listFilterForm } from './list-filter-form.ts';

const TYPE_LABELS = { official: 'official', custom: 'your own' } as const;

/** What one image is called: the name that it was given, or what it is. */
export function imageTitle({ name, family, version, variant }: Image): string {
  return name ?? [family, version, variant].filter((word) => word !== null).join(' ');
}

export interface ImageLimits {
  /** Of one account: how many, and what they take together. */
  readonly count: number;
  readonly gb: number;
  readonly fileGb: number;
}

export function imagesView(data: {
  readonly images: readonly Image[];
  readonly filter: Readonly<Record<string, string>>;
  readonly next: string | null;
  readonly first: string | null;
  readonly limits: ImageLimits;
  readonly forms: FormContext;
}): View {
  const rows = data.images.map((image) => [
    html`<a href="${resourcePath(PANEL_PATHS.images, image.id)}">${imageTitle(image)}</a>`,
    TYPE_LABELS[image.type],
    image.arch.join(', '),
    `${image.size_gb} GiB`,
    image.deprecated_at === null
      ? day(image.released_at)
      : statusBadge(`deprecated ${image.deprecated_at}`, 'busy'),
  ]);
  const columns = ['Name', 'Type', 'Architecture', { name: 'Size', class: 'number' }, 'Released'] as const;
  const list =
    rows.length > 0
      ? table({ caption: 'Images', columns, rows })
      : emptyState(
          'No image is like that.',
          data.filter.type === 'custom'
            ? 'Upload one of your own below.'
            : html`<a href="${PANEL_PATHS.images}">Show all images</a>`,
        );
  return {
    title: 'Images',
    section: 'images',
    body: html`${filterForm(data.filter)}
${list}
${pager(data)}
${section('Upload an image', uploadSection(data.forms, data.limits))}`,
  };
}

function filterForm(filter: Readonly<Record<string, string>>): Html {
  const { family = '', arch = '', type = '' } = filter;
  return listFilterForm(
    PANEL_PATHS.images,
    filter,
    (
      fields,
    ) => html`${fields.text('family', 'Family', { type: 'search', value: family, size: 14, placeholder: 'debian' })}
${fields.select('arch', 'Architecture', { value: arch, choices: [['', 'any'], ...ARCHES.map((word) => [word, word] as const)] })}
${fields.select('type', 'Type', { value: type, choices: [['', 'any'], ...IMAGE_TYPES.map((word) => [word, TYPE_LABELS[word]] as const)] })}`,
  );
}

function uploadSection(forms: FormContext, { count, gb, fileGb }: ImageLimits): Html {
  const fields = new Fields(forms, 'upload');
  const text = { maxLength: LIMITS.nameMaxChars, autocomplete: 'off' } as const;
  const problem = fields.problem('arch');
  // The file is the last part of what is sent: everything before it is looked at before it is taken.
  return html`<p>An ISO 9660 image that boots, of at most ${fileGb} GiB; ${count} images or ${gb} GiB in an account. A server that is installed from it boots it
like a CD: keys and user data are not put into it. If the connection breaks, nothing is kept and the upload begins anew.</p>
${form(
  forms,
  { name: 'upload', multipart: true },
  html`<div class="columns"><div>${fields.text('name', 'Name', { ...text, hint: 'For your own records; may stay empty.' })}
${fields.text('version', 'Version', { ...text, hint: 'The day of the upload when left empty.' })}</div>
<div>${fields.text('variant', 'Variant', { ...text, hint: 'Such as minimal; may stay empty.' })}
<fieldset><legend>Architecture</legend>
${problem && html`<p class="problem">${problem}</p>`}${ARCHES.map((arch) => fields.checkbox(`arch.${arch}`, arch, { value: arch === 'amd64' }))}</fieldset></div></div>
${fileField(fields, fileGb)}
<button>Upload the image</button>`,
)}`;
}

function fileField(fields: Fields, fileGb: number): Html {
  const hint = `At most ${fileGb} GiB. Stay on this page until it is done.`;
  return html`<div class="field${fields.problem('file') !== null && ' bad'}"><label for="${fields.id('file')}">File</label>
<input type="file" id="${fields.id('file')}" name="file" required accept=".iso,application/x-iso9660-image"${fields.describedBy('file', hint)}>
${fields.notes('file', hint)}</div>`;
}

export function imageView(data: {
  readonly image: Image;
  /** The day on which it is removed; null: none is set. */
  readonly removedOn: string | null;
  readonly forms: FormContext;
}): View {
  const { image, removedOn, forms } = data;
  return {
    title: imageTitle(image),
    section: 'images',
    breadcrumbs: [['Images', PANEL_PATHS.images]],
    body: html`${image.deprecated_at !== null && removedOn !== null && html`<p class="banner warn">${deprecationNote(image.deprecated_at, removedOn)}</p>`}
${detailList([
  ['Type', TYPE_LABELS[image.type]],
  ['Family', image.family],
  ['Version', image.version],
  ['Variant', image.variant],
  ['Architecture', image.arch.join(', ')],
  ['Size', `${image.size_gb} GiB`],
  ['User data', image.cloud_init ? 'is taken, by cloud-init' : 'is not taken'],
  [image.type === 'custom' ? 'Uploaded' : 'Released', day(image.released_at)],
  ['Id', html`<code>${image.id}</code>`],
])}
${image.type === 'custom' && section('Delete', deleteSection(forms))}`,
  };
}

function deprecationNote(since: string, gone: string): Html {
  return html`Deprecated since ${day(since)}: no new server can have it. Servers that have it keep running and can be installed
from it again until it is removed on ${day(gone)}.`;
}

function deleteSection(forms: FormContext): Html {
  return collapsibleForm(forms, 'delete', {
    summary: 'Delete this image',
    words:
      'No new server can have it then, and it has to be uploaded again to come back. Servers that were installed from it keep running.',
    content: html`<button class="danger">Delete the image</button>`,
  });
}
