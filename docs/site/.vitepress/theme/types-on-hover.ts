/** Shows what a name of a snippet is, while a pointer is on it or after a tap. One element for all: code blocks cut off what hangs out. */
export function showTypes(): void {
  const shown = document.createElement('div');
  shown.className = 'type-shown';
  shown.setAttribute('role', 'tooltip');
  shown.hidden = true;
  const [type, comment] = [document.createElement('code'), document.createElement('p')];
  type.className = 'type-shown-type';
  comment.className = 'type-shown-comment';
  shown.append(type, comment);
  document.body.append(shown);

  const hide = () => {
    shown.hidden = true;
  };
  const show = (name: HTMLElement) => {
    const { type: text = '', comment: words = '' } = name.dataset;
    type.textContent = text;
    comment.textContent = words;
    comment.hidden = words === '';
    shown.hidden = false;
    const at = name.getBoundingClientRect();
    const right = document.documentElement.clientWidth - shown.offsetWidth - 8;
    const isRoomBelow = at.bottom + shown.offsetHeight + 8 < innerHeight;
    shown.style.left = `${Math.max(8, Math.min(at.left, right))}px`;
    shown.style.top = `${isRoomBelow ? at.bottom + 4 : Math.max(8, at.top - shown.offsetHeight - 4)}px`;
  };
  document.addEventListener('pointerover', ({ target }) => {
    const name = (target as Element).closest<HTMLElement>('.typed');
    if (name !== null) show(name);
    else if (!shown.contains(target as Node)) hide();
  });
  document.addEventListener('keydown', ({ key }) => key === 'Escape' && hide());
  addEventListener('scroll', hide, { capture: true, passive: true });
}
