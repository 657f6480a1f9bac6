/** Files of strangers that staff attach and download. They always download: nothing shows them. */
import { Type } from 'typebox';
import { invalidRequest } from '../../kernel/fail.ts';
import { attachFileView } from '../../panel/staff/attach.ts';
import type { ConsoleSection } from '../../panel/staff/layout.ts';
import type { StaffOperation } from '../../spec/staff/operations.ts';
import { field } from '../form.ts';
import type { ConsoleContext, ConsoleFileContent, ConsolePage, PageIds } from './page.ts';

interface StoredFile {
  readonly name: string;
  readonly type: string;
  readonly content: Buffer;
}

interface FileAnswer extends Omit<StoredFile, 'content'> {
  readonly content_base64: string;
}

/** The answer of an operation that reads a file. */
export function fileAnswer(object: string, { name, type, content }: StoredFile) {
  return { object, name, type, content_base64: content.toString('base64') };
}

/** The file as a download of the console. */
export async function readDownload(
  { read, params }: Pick<ConsoleContext, 'read' | 'params'>,
  operation: StaffOperation,
): Promise<ConsoleFileContent> {
  const { name, type, content_base64: content } = await read<FileAnswer>(operation, params);
  return {
    type: type === 'text/plain' ? 'text/plain; charset=utf-8' : type,
    content: Buffer.from(content, 'base64'),
    name,
  };
}

/** The bound of a body with a file in base64. */
export function fileBodyMaxBytes(maxBytes: number): number {
  return Math.ceil(maxBytes / 3) * 4 + 16 * 1024;
}

/** The body of an operation that attaches a file. */
export function fileBody(maxBytes: number) {
  return Type.Object(
    {
      name: Type.Optional(Type.String({ maxLength: 255 })),
      content_base64: Type.String({ maxLength: fileBodyMaxBytes(maxBytes) }),
    },
    { additionalProperties: false },
  );
}

/** Fails with `invalid_request`. */
export function readFileBody(body: { readonly name?: string; readonly content_base64: string }) {
  const { name = '', content_base64: text } = body;
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text)) {
    invalidRequest([{ field: 'content_base64', issue: 'invalid_format' }]);
  }
  return { name, content: Buffer.from(text, 'base64') };
}

interface AttachPage {
  readonly section: ConsoleSection;
  /** Of the list that the resource is in. */
  readonly path: string;
  readonly many: string;
  readonly noun: string;
  readonly get: StaffOperation;
  readonly nameOf: (item: never) => string;
  readonly operation: StaffOperation;
  readonly types: readonly string[];
  /** In words, such as `A PDF or a PNG image`. */
  readonly typeNames: string;
  readonly example: string;
  readonly maxBytes: number;
  readonly nameMaxChars: number;
}

/** The page whose form attaches a file to a resource. */
export function attachPage(page: AttachPage): ConsolePage {
  const { path, section, many, operation, maxBytes } = page;
  const itemPath = ({ id = '' }: PageIds) => `${path}/${encodeURIComponent(id)}`;
  return {
    path: `${path}/{id}/attach`,
    access: 'staff',
    acceptsUpload: true,
    render: async ({ read, params, forms }) =>
      attachFileView({
        ...page,
        section,
        breadcrumbs: [
          [many, path],
          [page.nameOf((await read<object>(page.get, params)) as never), itemPath(params)],
        ],
        forms,
      }),
    forms: {
      [operation]: {
        operation,
        fileMaxBytes: maxBytes,
        body: (form, file) => ({
          name: field(form, 'name').trim(),
          content_base64: file?.toString('base64') ?? '',
        }),
        done: (_answer, params) => ({ to: itemPath(params), notice: 'saved' }),
      },
    },
  };
}
