/** The description of a page of the console. Its forms perform operations of staff (route.ts). */
import type { Readable } from 'node:stream';
import type { StaffActor } from '../../domain/staff/context.ts';
import type { FormContext } from '../../panel/parts/form.ts';
import type { ConsoleView } from '../../panel/staff/layout.ts';
import type { ConsoleNotice } from '../../panel/staff/notices.ts';
import type { RoomPreview } from '../../panel/staff/room-form.ts';
import type { StaffOperation } from '../../spec/staff/operations.ts';
import type { Form } from '../form.ts';
import type { AdminEdge } from './route.ts';

export type PageIds = Readonly<Record<string, string>>;

export interface ConsoleContext {
  readonly edge: AdminEdge;
  readonly params: PageIds;
  readonly query: Form;
  /** The part of the cookie that every visitor has. */
  readonly visitor: string;
  readonly forms: FormContext;
  /** The changes that the form of the request would make. */
  readonly preview: ActPreview | null;
  /** Secrets that the response of a form shows once. Null for every other request. */
  readonly shown: Readonly<Record<string, string>> | null;
  /** Returns the person, or fails with `auth_required`. */
  staff(): StaffActor;
  /** Whether the person may perform an operation. */
  may(operation: StaffOperation): boolean;
  /** Performs an operation that only reads. `body`: its input, if no URL may have it. */
  read<Answer>(operation: StaffOperation, params?: PageIds, query?: PageIds, body?: object): Promise<Answer>;
}

/** The changes that a form would make, which its page shows before the form is sent for good. */
export interface ActPreview extends RoomPreview {
  /** The name of the form. */
  readonly form: string;
}

/** The page again, with the values of the form. Nothing was done. */
export interface FormAgain {
  readonly again: Form;
  readonly preview?: ActPreview;
}

export type ConsoleResult = (
  | { readonly to: string; readonly notice?: ConsoleNotice }
  | { readonly shown: Readonly<Record<string, string>> }
  | FormAgain
  | { readonly download: { readonly fileName: string; readonly content: Readable } }
) & {
  /** The new cookie, after signing in or out. */
  readonly cookie?: string;
};

/** A form that performs an operation. */
export interface OperationForm {
  readonly operation: StaffOperation;
  /** The ids of the operation's path. Defaults to the page's own. */
  readonly params?: (form: Form, params: PageIds) => PageIds;
  readonly body?: (form: Form, file: Buffer | null) => object;
  /** Set if the form has a file, as its last field. Its page accepts uploads. */
  readonly fileMaxBytes?: number;
  /** Handles another button of the form. Null: the form is to be performed. */
  readonly otherButton?: (
    form: Form,
    call: Pick<ConsoleContext, 'params' | 'read'>,
  ) => Promise<FormAgain | null>;
  readonly done: (answer: never, params: PageIds) => ConsoleResult;
}

/** A form about the session itself. */
export interface SessionForm {
  readonly run: (
    call: Pick<ConsoleContext, 'edge' | 'read' | 'staff'> & {
      readonly visitor: string;
      /** The address of the visitor, for limits only. */
      readonly address: string;
    },
    form: Form,
  ) => Promise<ConsoleResult>;
}

export type ConsoleForm = OperationForm | SessionForm;

/** A download, or a picture of a page. Only people who are signed in receive it. */
export interface ConsoleFile {
  readonly path: string;
  readonly read: (context: ConsoleContext) => Promise<ConsoleFileContent>;
}

export interface ConsoleFileContent {
  readonly type: string;
  readonly content: string | Buffer | Readable;
  /** The name to save it under; omitted: it is shown. */
  readonly name?: string;
}

/** Names columns in its first row. */
export function csvFile(name: string, content: string | Readable): ConsoleFileContent {
  return { type: 'text/csv; charset=utf-8', content, name };
}

export interface ConsolePage {
  /** With parameters as `{id}`. */
  readonly path: string;
  readonly access: 'anyone' | 'staff';
  /** Its forms are multipart, with a file. */
  readonly acceptsUpload?: true;
  readonly render: (context: ConsoleContext) => Promise<ConsoleView> | ConsoleView;
  readonly forms?: Readonly<Record<string, ConsoleForm>>;
}
