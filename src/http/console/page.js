// The console page: opens the WebSocket named in the page's URL and shows the screen that it transmits.

const byId = (id) => document.getElementById(id);
const [state, badge, keys, full, screen, about, why] = [
  'state', 'badge', 'keys', 'full', 'screen', 'about', 'why',
].map(byId);

const query = new URLSearchParams(location.search);
const viewOnly = query.has('view_only');
const socketUrl = urlOf(query.get('path') ?? '');
badge.hidden = !viewOnly;

const NOT_OPENED =
  'The console could not be opened. The link was already used or has expired, or the server is not running.';
const NO_LINK = 'This is not a valid console link.';
const NO_VIEWER = 'The viewer could not be loaded. Reload this page. Your link is still valid.';
const ENDED = {
  1000: 'The console closed because the server was stopped, rebuilt, or deleted.',
  1001: 'The service is restarting. Your server keeps running.',
  1008: 'The viewer sent an invalid message.',
  4000: 'The console closed after 30 minutes without input.',
  4001: 'The console closed after 12 hours.',
  4002: 'The API token that opened this console was revoked or has expired.',
  4003: 'Your account is frozen. Open a new console to view the screen without input.',
  4004: 'The session that opened this console has ended. Sign in again.',
};

if (socketUrl) open(socketUrl);
else closed(NO_LINK);

/** Returns the WebSocket's URL, or null: only a console of this service is ever connected. */
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
  // noVNC assigns the handler properties, so this listener does not replace one.
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
    // The link is used up: remove it from the address bar and the history.
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
