// Passkeys. The elements that need one are hidden until this script finds that the browser has passkeys.

const { PublicKeyCredential: Credential } = window;
const isSupported = Credential?.parseRequestOptionsFromJSON && Credential.parseCreationOptionsFromJSON;

// Calls a form endpoint with the CSRF token of the page.
async function call(path, fields) {
  const token = document.querySelector('input[name="_token"]').value;
  const body = new URLSearchParams({ ...fields, _token: token });
  const response = await fetch(path, { method: 'POST', body });
  const answer = await response.json();
  if (!answer.ok) throw new Error(answer.msg);
  return answer;
}

async function ask({ options }) {
  const publicKey = Credential.parseRequestOptionsFromJSON(options);
  return JSON.stringify(await navigator.credentials.get({ publicKey }));
}

async function create({ options }) {
  const publicKey = Credential.parseCreationOptionsFromJSON(options);
  return JSON.stringify(await navigator.credentials.create({ publicKey }));
}

const valuesOf = (form, names) =>
  Object.fromEntries(names.map((name) => [name, form.elements[name]?.value ?? '']));

// Submits a form with a passkey in place of a required field.
function submitWith(form, passkey, replaced) {
  form.elements.passkey.value = passkey;
  form.elements[replaced].required = false;
  form.requestSubmit();
}

const ACTIONS = {
  sign_in: async (button) => {
    const passkey = await ask(await call('/auth-api.php', { action: 'begin_passkey_signin' }));
    await call('/auth-api.php', { action: 'passkey_signin', passkey });
    location.assign(button.dataset.next);
  },
  factor: async ({ form }) => {
    const typed = valuesOf(form, ['email', 'password']);
    const passkey = await ask(await call('/auth-api.php', { action: 'begin_passkey_signin', ...typed }));
    submitWith(form, passkey, 'code');
  },
  confirm: async ({ form }) => {
    const passkey = await ask(await call('/account-api.php', { action: 'begin_passkey_check' }));
    submitWith(form, passkey, 'current_password');
  },
  // The options are on the page, and its form takes the answer.
  answer: async (button) => {
    const { form, dataset } = button;
    const options = JSON.parse(dataset.options);
    if (!form.reportValidity()) return;
    form.elements.passkey.value = await (dataset.kind === 'create' ? create : ask)({ options });
    form.requestSubmit();
  },
  add: async ({ form, dataset }) => {
    const typed = valuesOf(form, ['current_password', 'code']);
    const passkey = await create(await call('/account-api.php', { action: 'begin_passkey', ...typed }));
    const { name } = valuesOf(form, ['name']);
    await call('/account-api.php', { action: 'add_passkey', name, passkey });
    location.assign(dataset.next);
  },
};

async function run(button) {
  const problem = button.parentElement.querySelector('.problem[role]') ?? document.createElement('p');
  problem.className = 'problem';
  problem.setAttribute('role', 'alert');
  problem.textContent = '';
  button.after(problem);
  button.disabled = true;
  try {
    await ACTIONS[button.dataset.passkey](button);
  } catch (error) {
    const isClosed = error instanceof DOMException;
    problem.textContent = isClosed ? 'No passkey was used. Try again, or use your password.' : error.message;
  }
  button.disabled = false;
}

if (isSupported) {
  for (const element of document.querySelectorAll('[data-passkeys]')) element.hidden = false;
  for (const button of document.querySelectorAll('[data-passkey]')) {
    button.addEventListener('click', (event) => {
      if (button.type === 'button') return run(button);
      if (!button.form.checkValidity()) return;
      event.preventDefault();
      run(button);
    });
  }
}
