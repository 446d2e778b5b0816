/**
 * What a voice should say of a model's text: without Markdown, emoji and other signs that have no sound, white
 * space collapsed. Empty when nothing is left to speak. Words and numbers are not touched.
 */
export function spokenText(text: string): string {
  const plain = text
    .replace(/```[a-z]*|`/gi, '')
    .replace(/!?\[([^\]\n]*)\]\((?:[^()\s]|\([^()\s]*\))*\)/g, '$1')
    .replace(/^[ \t]*(?:#{1,6}|[-*+•]|>)[ \t]+/gm, '')
    .replace(/\*{1,3}(?=\S)|(?<=\S)\*{1,3}(?!\d)/g, '')
    .replace(/(?<![\p{L}\p{N}_])_{1,2}(?=[\p{L}\p{N}])|(?<=[\p{L}\p{N}.!?,])_{1,2}(?![\p{L}\p{N}_])/gu, '')
    .replace(
      /\p{Extended_Pictographic}|\p{Emoji_Modifier}|[\u{1f1e6}-\u{1f1ff}]|\u200d|\u20e3|\ufe0f/gu,
      keepSigns,
    )
    .replace(/\s+/g, ' ')
    .trim();
  return /[\p{L}\p{N}]/u.test(plain) ? plain : '';
}

/** ©, ® and ™ are pictographs by Unicode and words to a voice. */
function keepSigns(sign: string): string {
  return '©®™'.includes(sign) ? sign : '';
}
