/** The host's own marks on every page: its name or logo at the top, and the footer. */
import { PANEL_PATHS } from '../../spec/paths.ts';
import { type Html, html } from './html.ts';

export interface Brand {
  /** The host's name. */
  readonly name: string;
  /** Its size on the page, in pixels. Null: the name is shown. */
  readonly logo: { readonly path: string; readonly width: number; readonly height: number } | null;
  readonly footer: {
    readonly text: string | null;
    readonly links: readonly (readonly [name: string, url: string])[];
  };
  /** Whether the host published them; others are not linked. */
  readonly published: Readonly<Record<'terms' | 'privacy' | 'contact' | 'abuse' | 'transparency', boolean>>;
}

/** Returns a link to the contact page, or the text alone if the host has published no contact. */
export function contactLink(text: string, hasContact: boolean): Html {
  return hasContact ? html`<a href="${PANEL_PATHS.contact}">${text}</a>` : html`${text}`;
}

/** Without images, the alternative text of the logo is the name. */
export function brandLink({ name, logo }: Brand): Html {
  return logo === null
    ? html`<a class="brand" href="${PANEL_PATHS.home}">${name}</a>`
    : html`<a class="brand logo" href="${PANEL_PATHS.home}"><img src="${logo.path}" alt="${name}"
width="${logo.width}" height="${logo.height}"></a>`;
}

export function footer({ name, footer: own, published }: Brand): Html {
  const links: readonly (readonly [name: string, path: string])[] = [
    ['Plans', PANEL_PATHS.plans],
    ['Docs', PANEL_PATHS.docs],
    ['Status', PANEL_PATHS.status],
    ...(published.terms ? ([['Terms', PANEL_PATHS.terms]] as const) : []),
    ...(published.privacy ? ([['Privacy', PANEL_PATHS.privacy]] as const) : []),
    ...(published.contact ? ([['Contact', PANEL_PATHS.contact]] as const) : []),
    ...(published.abuse ? ([['Report abuse', PANEL_PATHS.abuse]] as const) : []),
    ...(published.transparency ? ([['Transparency', PANEL_PATHS.transparency]] as const) : []),
    ...own.links,
  ];
  return html`<footer class="colophon"><p>${own.text ?? name}</p>
<ul>${links.map(([text, path]) => html`<li><a href="${path}">${text}</a></li>`)}</ul></footer>`;
}
