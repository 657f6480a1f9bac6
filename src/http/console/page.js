// The console's page: opens the WebSocket that its address names and shows the screen that comes from it.

const byId = (id) => document.getElementById(id);
const [state, badge, keys, full, screen, about, why] = [
  'state', 'badge', 'keys', 'full', 'screen', 'about', 'why',
].map(byId);

const query = new URLSearchParams(location.search);
const viewOnly = query.has('view_only');
const socketUrl = urlOf(query.get('path') ?? '');
badge.hidden = !viewOnly;

const NOT_OPENED =
  'The screen did not open: this link was used before, is older than five minutes, or the server does not run now.';
const NO_LINK = 'This address names no console.';
const NO_VIEWER = 'The viewer could not be loaded. Load this page again; its link was not used up.';
const ENDED = {
  1000: 'The machine’s screen ended: it was stopped, reinstalled or destroyed.',
  1001: 'The service restarts. The server goes on running.',
  1008: 'The viewer said something that the console does not take.',
  4000: 'Nothing was typed or pointed at here for half an hour.',
  4001: 'It was open for twelve hours.',
  4002: 'The API token that opened it was revoked or has expired.',
  4003: 'The account was frozen. A new link shows the screen, but takes no input.',
  4004: 'The session in which it was opened has ended: sign in again.',
};

if (socketUrl) open(socketUrl);
else closed(NO_LINK);

/** The WebSocket's address, or null: nothing but a console of this very service is ever connected to. */
function urlOf(path) {
  const { sockets } = document.body.dataset;
  const whole = `/${path.replace(/^\//, '')}`;
  if (!whole.startsWith(sockets) || !/^[a-z2-7]+$/.test(whole.slice(sockets.length))) return null;
  return `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}${whole}`;
}

async function open(url) {
  state.textContent = 'Loading…';
  let RFB;
  try {
    ({ default: RFB } = await import('./novnc/core/rfb.js'));
  } catch {
    closed(NO_VIEWER);
    return;
  }
  state.textContent = 'Connecting…';
  const socket = new WebSocket(url, ['binary']);
  let opened = false;
  // noVNC sets the handlers that are properties; this one is ours.
  socket.addEventListener('close', ({ code }) => {
    closed(opened ? (ENDED[code] ?? 'The connection was lost.') : NOT_OPENED);
  });
  const viewer = new RFB(screen, socket);
  viewer.viewOnly = viewOnly;
  viewer.scaleViewport = true;
  viewer.background = '#11161b';
  let name = 'the server';
  viewer.addEventListener('desktopname', ({ detail }) => {
    name = detail.name;
  });
  viewer.addEventListener('connect', () => {
    opened = true;
    state.textContent = `Connected to ${name}`;
    document.title = document.title.replace(/^Console/, name);
    // The link is used up: out of the address bar and the history with it.
    history.replaceState(null, '', location.pathname);
    keys.hidden = viewOnly;
    full.hidden = !document.fullscreenEnabled;
    viewer.focus();
  });
  viewer.addEventListener('securityfailure', () => socket.close());
  keys.addEventListener('click', () => {
    viewer.sendCtrlAltDel();
    viewer.focus();
  });
  full.addEventListener('click', () => document.documentElement.requestFullscreen());
}

function closed(reason) {
  state.textContent = 'Disconnected';
  why.textContent = reason;
  about.hidden = false;
  keys.hidden = full.hidden = true;
}
