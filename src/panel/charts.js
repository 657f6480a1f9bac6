// Charts with a crosshair: the values at the pointer, at a touch, or where the arrow keys move to. The
// picture stays as it is. Its values are fetched when they are first needed.
{
  const STEPS = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10 };

  function create(tag, className, parent) {
    const element = document.createElement(tag);
    element.className = className;
    parent.append(element);
    return element;
  }

  function addCrosshair(figure) {
    // A slider: screen readers say the values when they change.
    const area = create('div', 'graph-area', figure);
    area.tabIndex = 0;
    area.setAttribute('role', 'slider');
    area.setAttribute('aria-label', figure.dataset.label);
    area.setAttribute('aria-valuenow', '0');
    area.setAttribute('aria-valuetext', 'Press an arrow key to read values.');
    const line = create('div', 'graph-line', area);
    const box = create('div', 'graph-box', area);
    const dots = [];
    let values;
    let place = -1;

    async function load() {
      values ??= fetch(figure.dataset.values)
        .then((response) => (response.ok ? response.json() : null))
        .catch(() => null);
      const loaded = await values;
      // The next use tries again.
      if (!loaded) values = undefined;
      return loaded?.moments.length > 0 ? loaded : null;
    }

    function show({ width, height, top, bottom, names, moments }, index) {
      place = Math.min(Math.max(index, 0), moments.length - 1);
      const { x, time, y, texts } = moments[place];
      const [left, right] = [`${(x / width) * 100}%`, `${100 - (x / width) * 100}%`];
      Object.assign(line.style, { left, top: `${(top / height) * 100}%` });
      line.style.height = `${((bottom - top) / height) * 100}%`;
      Object.assign(box.style, x > width / 2 ? { left: '', right } : { left, right: '' });
      box.replaceChildren();
      create('b', '', box).textContent = time;
      names.forEach((name, series) => {
        dots[series] ??= create('div', 'graph-dot', area);
        dots[series].hidden = y[series] === null;
        Object.assign(dots[series].style, { left, top: `${((y[series] ?? 0) / height) * 100}%` });
        create('span', '', box).textContent = `${name} ${texts[series]}`;
      });
      area.classList.add('shown');
      area.setAttribute('aria-valuemax', String(moments.length - 1));
      area.setAttribute('aria-valuenow', String(place));
      const spoken = names.map((name, series) => `${name} ${texts[series]}`);
      area.setAttribute('aria-valuetext', `${time}: ${spoken.join(', ')}`);
    }

    function hide() {
      area.classList.remove('shown');
    }

    let pointerX = null;
    async function followPointer({ clientX }) {
      pointerX = clientX;
      const loaded = await load();
      // The pointer may have moved on, or away.
      if (!loaded || pointerX !== clientX) return;
      const { left, width } = area.getBoundingClientRect();
      const x = ((clientX - left) / width) * loaded.width;
      const distances = loaded.moments.map((moment) => Math.abs(moment.x - x));
      show(loaded, distances.indexOf(Math.min(...distances)));
    }
    for (const type of ['pointerdown', 'pointermove']) area.addEventListener(type, followPointer);
    area.addEventListener('pointerleave', ({ pointerType }) => {
      // A finger leaves when it is lifted. The values stay until the next touch.
      if (pointerType !== 'mouse') return;
      pointerX = null;
      hide();
    });

    area.addEventListener('keydown', async (event) => {
      if (event.key === 'Escape') return hide();
      const isEdge = event.key === 'Home' || event.key === 'End';
      if (!isEdge && !STEPS[event.key]) return;
      event.preventDefault();
      const loaded = await load();
      if (!loaded) return;
      const last = loaded.moments.length - 1;
      if (isEdge) show(loaded, event.key === 'Home' ? 0 : last);
      // The first key shows the latest values.
      else show(loaded, place < 0 ? last : place + STEPS[event.key]);
    });
    area.addEventListener('blur', hide);
  }

  const addTo = (root) => root.querySelectorAll('.graph').forEach(addCrosshair);
  addTo(document);
  document.addEventListener('part-replaced', ({ detail }) => addTo(detail));
}
