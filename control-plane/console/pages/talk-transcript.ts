import { bubble } from '../bubble.ts';
import { LiveTranscript, type TranscriptLine, type TranscriptPiece } from '../call/transcript.ts';
import { fill, h } from '../dom.ts';

/** Nearer to the end than this counts as reading the newest line. */
const STICKY_PX = 80;

/** The conversation as it is being held. Whole lines are also said to screen readers. */
export function createTalkTranscript(agentName: string) {
  const list = h('ol', { class: 'transcript', 'aria-label': 'Live transcript', 'data-testid': 'transcript' });
  const empty = h('p', { class: 'transcript-empty muted' }, 'What you both say appears here.');
  const announcer = h('div', { class: 'visually-hidden', 'aria-live': 'polite' });
  const scroller = h(
    'div',
    { class: 'transcript-scroll', tabindex: 0, role: 'region', 'aria-label': 'Transcript' },
    empty,
    list,
  );
  const bubbles = new Map<string, ReturnType<typeof bubble>>();
  let transcript = new LiveTranscript();
  let typedCount = 0;

  function append(element: HTMLLIElement): void {
    empty.hidden = true;
    list.append(element);
  }

  /** Changes the list and stays at its end, unless the person has scrolled up to read. */
  function change(work: () => void): void {
    const isAtEnd = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < STICKY_PX;
    work();
    if (isAtEnd) scroller.scrollTop = scroller.scrollHeight;
  }

  function show(line: TranscriptLine): void {
    const speaker = line.speaker === 'user' ? 'You' : agentName;
    let row = bubbles.get(line.id);
    if (!row) {
      row = bubble({ side: line.speaker, speaker, text: '' });
      bubbles.set(line.id, row);
      append(row.element);
    }
    row.update(line.text, line.isFinal);
    if (line.isFinal) announcer.append(h('p', {}, `${speaker}: ${line.text}`));
    while (announcer.childElementCount > 3) announcer.firstElementChild?.remove();
  }

  function addPiece(piece: TranscriptPiece): void {
    const line = transcript.add(piece);
    if (line) change(() => show(line));
  }

  return {
    element: h('div', { class: 'transcript-box' }, scroller, announcer),
    addPiece,
    addTyped(text: string): void {
      typedCount += 1;
      addPiece({ segmentId: `typed-${typedCount}`, speaker: 'user', text, isFinal: true });
    },
    addNote(text: string): void {
      change(() => append(h('li', { class: 'aside', role: 'note' }, text)));
    },
    clear(): void {
      transcript = new LiveTranscript();
      bubbles.clear();
      fill(list);
      fill(announcer);
      empty.hidden = false;
    },
  };
}
