import type { Choices } from '../api-types.ts';
import { fill, h } from '../dom.ts';
import { type Field, field, options } from '../field.ts';

const OTHER = 'other';

/** A list of the built-in voices of one language, with room for the id of any other voice. */
export function createVoiceChoice(voices: Choices['voices']) {
  const select = h('select');
  const other = h('input', { type: 'text', autocomplete: 'off', spellcheck: 'false', maxlength: 256 });
  const otherField: Field = field(
    'Voice id',
    other,
    'Any voice that the speech engine in the settings knows.',
  );
  let shownLanguage = '';

  function showFor(language: string): void {
    if (language !== shownLanguage) {
      const kept = value();
      const wasBuiltin = voices.some((voice) => voice.id === kept);
      const fitting = voices.filter((voice) => voice.language === language);
      const isStillThere = fitting.some((voice) => voice.id === kept);
      const chosen = isStillThere || !wasBuiltin ? kept : (fitting[0]?.id ?? kept);
      shownLanguage = language;
      list(fitting, chosen);
    }
    otherField.element.hidden = select.value !== OTHER;
  }

  function list(fitting: Choices['voices'], chosen: string): void {
    const isListed = fitting.some((voice) => voice.id === chosen);
    const rows = fitting.map((voice) => [voice.id, `${voice.name} (built in)`] as const);
    fill(select, ...options([...rows, [OTHER, 'Another voice…']], isListed ? chosen : OTHER));
    if (!isListed) other.value = chosen;
  }

  function value(): string {
    return select.value === OTHER ? other.value.trim() : select.value;
  }

  function set(voiceId: string, language: string): void {
    shownLanguage = language;
    list(
      voices.filter((voice) => voice.language === language),
      voiceId,
    );
    otherField.element.hidden = select.value !== OTHER;
  }

  return { select, otherField, showFor, value, set };
}
