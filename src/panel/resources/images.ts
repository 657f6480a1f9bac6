/** Official and custom images: the list with an upload form, and the page of one image. */
import { LIMITS } from '../../spec/limits.ts';
import { PANEL_PATHS, resourcePath } from '../../spec/paths.ts';
import type { Action } from '../../spec/schemas/action.ts';
import { ARCHES, IMAGE_TYPES, type Image } from '../../spec/schemas/image.ts';
import { activityPart, refreshWhileRunning } from '../parts/activity.ts';
import { collapsibleForm, listFilterForm } from '../parts/compact-forms.ts';
import {
  day,
  detailList,
  emptyState,
  pager,
  section,
  sectionLink,
  statusBadge,
  table,
} from '../parts/components.ts';
import { Fields, type FormContext, form } from '../parts/form.ts';
import { formatGib } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import { labelsOf } from '../parts/labels.ts';
import type { View } from '../parts/layout.ts';
import { part } from '../parts/live.ts';
import { type UnfinishedUpload, unfinishedUploads } from './unfinished-uploads.ts';

const TYPE_LABELS = { official: 'Official', custom: 'Custom' } as const;

interface ImageLimits {
  /** Per account: number of images and their total size. */
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
  readonly unfinished: readonly UnfinishedUpload[];
  readonly forms: FormContext;
}): View {
  const label = imageLabels(data.images);
  const rows = data.images.map((image) => [
    html`<a href="${resourcePath(PANEL_PATHS.images, image.id)}">${label(image)}</a>`,
    TYPE_LABELS[image.type],
    image.arch.join(', '),
    formatGib(image.size_gb),
    image.deprecated_at === null
      ? day(image.released_at)
      : statusBadge(`deprecated ${image.deprecated_at}`, 'busy'),
  ]);
  const columns = [
    'Name',
    'Type',
    'Architecture',
    { name: 'Size', class: 'number' },
    'Released or deprecated',
  ] as const;
  const list =
    rows.length > 0
      ? table({ caption: 'Images', columns, rows })
      : emptyState(
          'No matching images.',
          data.filter.type === 'custom'
            ? 'Upload your own image below.'
            : html`<a href="${PANEL_PATHS.images}">Clear filters</a>`,
        );
  return {
    title: 'Images',
    section: 'images',
    header: { actions: sectionLink('Upload image') },
    live: ['custom_'],
    scripts: ['upload'],
    body: html`${filterForm(data.filter)}
${part('list', list)}
${pager(data)}
${section(
  'Upload image',
  html`${unfinishedUploads(data.unfinished, data.forms)}${uploadSection(data.forms, data.limits)}`,
)}`,
  };
}

function filterForm(filter: Readonly<Record<string, string>>): Html {
  const { family = '', arch = '', type = '' } = filter;
  const any = ['', 'Any'] as const;
  const arches = [any, ...ARCHES.map((word) => [word, word] as const)];
  const types = [any, ...IMAGE_TYPES.map((word) => [word, TYPE_LABELS[word]] as const)];
  return listFilterForm(
    PANEL_PATHS.images,
    filter,
    (fields) => html`${fields.text('family', 'Family', {
      type: 'search',
      value: family,
      size: 14,
      placeholder: 'debian',
    })}
${fields.select('arch', 'Architecture', { value: arch, choices: arches })}
${fields.select('type', 'Type', { value: type, choices: types })}`,
  );
}

function uploadSection(forms: FormContext, { count, gb, fileGb }: ImageLimits): Html {
  const fields = new Fields(forms, 'upload');
  const text = { maxLength: LIMITS.nameMaxChars, autocomplete: 'off' } as const;
  const problem = fields.problem('arch');
  const arches = ARCHES.map((arch) => fields.checkbox(`arch.${arch}`, arch, { value: arch === 'amd64' }));
  // The file must be the last part: the server validates everything before it first.
  return html`<p>A bootable ISO 9660 image of up to ${formatGib(fileGb)}. An account can have up to
${count} images of its own, with ${formatGib(gb)} in total, and upload ${LIMITS.imageUploadsConcurrent} at a
time. Servers boot it like a CD; SSH keys and user data are not applied. If the connection breaks, the upload
continues on its own, or when you choose the same file within ${LIMITS.imageUploadResumeHours} hours. Without
scripts, upload the file again.</p>
${form(
  forms,
  { name: 'upload', multipart: true },
  html`<div class="columns"><div>${fields.text('name', 'Name (optional)', {
    ...text,
    hint: 'Shown in the list of images.',
  })}
${fields.text('version', 'Version (optional)', { ...text, hint: 'Defaults to the upload date.' })}</div>
<div>${fields.text('variant', 'Variant (optional)', { ...text, hint: 'For example, minimal.' })}
<fieldset><legend>Architecture</legend>
${problem && html`<p class="problem">${problem}</p>`}${arches}</fieldset></div></div>
${fileField(fields, fileGb)}
<button>Upload image</button>`,
)}`;
}

function fileField(fields: Fields, fileGb: number): Html {
  const hint = `Up to ${formatGib(fileGb)}. Stay on this page until the upload is done.`;
  const id = fields.id('file');
  const bad = fields.problem('file') !== null && ' bad';
  return html`<div class="field${bad}"><label for="${id}">File</label>
<input type="file" id="${id}" name="file" required
accept=".iso,application/x-iso9660-image"${fields.describedBy('file', hint)}>
${fields.notes('file', hint)}</div>`;
}

export function imageView(data: {
  readonly image: Image;
  /** The date of removal, or null. */
  readonly removedOn: string | null;
  /** The latest ones. Official images have none. */
  readonly actions: readonly Action[];
  readonly forms: FormContext;
}): View {
  const { image, removedOn, actions, forms } = data;
  return {
    title: formatImageName(image),
    section: 'images',
    breadcrumbs: [['Images', PANEL_PATHS.images]],
    header: { facts: [TYPE_LABELS[image.type], image.arch.join(', ')] },
    ...refreshWhileRunning(actions),
    live: [image.id],
    body: html`${
      image.deprecated_at !== null &&
      removedOn !== null &&
      html`<p class="banner warn">${deprecationNote(image.deprecated_at, removedOn)}</p>`
    }
${part(
  'facts',
  detailList([
    ['Type', TYPE_LABELS[image.type]],
    ['Family', image.family],
    ['Version', image.version],
    ['Variant', image.variant],
    ['Architecture', image.arch.join(', ')],
    ['Size', formatGib(image.size_gb)],
    ['User data', image.cloud_init ? 'Supported (cloud-init)' : 'Not supported'],
    [image.type === 'custom' ? 'Uploaded' : 'Released', day(image.released_at)],
    ['ID', html`<code>${image.id}</code>`],
  ]),
)}
${image.type === 'custom' && activityPart(image.id, 'image', actions)}
${image.type === 'custom' && section('Delete', deleteSection(forms))}`,
  };
}

function deprecationNote(since: string, gone: string): Html {
  return html`Deprecated since ${day(since)}: unavailable for new servers. Servers that use it keep running,
and you can rebuild them with it until it is removed on ${day(gone)}.`;
}

function deleteSection(forms: FormContext): Html {
  return collapsibleForm(forms, 'delete', {
    summary: 'Delete this image',
    description:
      'You can’t use it for new servers unless you upload it again. Servers installed from it keep running.',
    content: html`<button class="danger">Delete image</button>`,
  });
}

/** Families whose name is not just their code. */
const FAMILY_NAMES: Readonly<Record<string, string>> = {
  almalinux: 'AlmaLinux',
  alpine: 'Alpine',
  arch: 'Arch Linux',
  archlinux: 'Arch Linux',
  centos: 'CentOS',
  debian: 'Debian',
  fedora: 'Fedora',
  freebsd: 'FreeBSD',
  nixos: 'NixOS',
  openbsd: 'OpenBSD',
  opensuse: 'openSUSE',
  rocky: 'Rocky Linux',
  ubuntu: 'Ubuntu',
};

/** Returns an image's name, or its family, version, and variant. */
export function formatImageName({ type, name, family, version, variant }: Image): string {
  if (type === 'custom') return name ?? `Custom image ${version}`.trim();
  return [FAMILY_NAMES[family] ?? family, version, variant].filter(Boolean).join(' ');
}

function imageLabels(images: readonly Image[]): (image: Image) => string {
  const named = (image: Image) => ({ id: image.id, name: formatImageName(image) });
  const label = labelsOf(images.map(named));
  return (image) => label(named(image));
}

/** Returns the choices for a select. */
export function imageChoices(images: readonly Image[]): (readonly [value: string, name: string])[] {
  const label = imageLabels(images);
  return images.map((image) => [
    image.id,
    image.type === 'custom' ? `Your image: ${label(image)}` : label(image),
  ]);
}
