/** The messages of a ticket, as customers and staff see them. */
import { time } from './components.ts';
import { formatNumber } from './format.ts';
import { type Html, html } from './html.ts';

export interface TalkMessage {
  readonly id: string;
  /** As shown above the text: `You`, `Note`. */
  readonly author: string;
  readonly isNote?: boolean;
  readonly text: string;
  readonly created_at: string;
  readonly files: readonly { readonly id: string; readonly name: string; readonly size_bytes: number }[];
}

/** `filePath` is where a file can be downloaded. */
export function talk(messages: readonly TalkMessage[], filePath: (id: string) => string): Html {
  return html`<ol class="talk">${messages.map(
    (
      each,
    ) => html`<li${each.isNote && html` class="note"`}><p class="talk-head"><strong>${each.author}</strong>
${time(each.created_at)}</p>
<div class="talk-text">${each.text}</div>
${each.files.map(
  (file) => html`<p class="talk-file"><a href="${filePath(file.id)}">${file.name}</a>
(${formatNumber(file.size_bytes)} bytes)</p>`,
)}</li>\n`,
  )}</ol>`;
}
