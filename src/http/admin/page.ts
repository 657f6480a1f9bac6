/** The description of a page of the console. Its forms perform operations of staff (route.ts). */
import type { Readable } from 'node:stream';
import type { StaffActor } from '../../domain/staff/context.ts';
import type { FormContext } from '../../panel/parts/form.ts';
import type { ConsoleView } from '../../panel/staff/layout.ts';
import type { ConsoleNotice } from '../../panel/staff/notices.ts';
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
  /** Secrets that the response of a form shows once. Null for every other request. */
  readonly shown: Readonly<Record<string, string>> | null;
  /** Returns the person, or fails with `auth_required`. */
  staff(): StaffActor;
  /** Whether the person may perform an operation. */
  may(operation: StaffOperation): boolean;
  /** Performs an operation that only reads. `body`: its input, if no URL may have it. */
  read<Answer>(operation: StaffOperation, params?: PageIds, query?: PageIds, body?: object): Promise<Answer>;
}

export type ConsoleResult = (
  | { readonly to: string; readonly notice?: ConsoleNotice }
  | { readonly shown: Readonly<Record<string, string>> }
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
  readonly content: string | Buffer;
  /** The name to save it under; omitted: it is shown. */
  readonly name?: string;
}

/** Names columns in its first row. */
export function csvFile(name: string, content: string): ConsoleFileContent {
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
