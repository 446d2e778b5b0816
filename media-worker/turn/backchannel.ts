/**
 * Short words with which a listener says "go on": they don't take the turn. Continuers and acknowledgements of
 * the ten languages, lower case, without punctuation.
 */
const BACKCHANNELS: Readonly<Record<string, readonly string[]>> = {
  en: [
    'uh huh',
    'mm hmm',
    'mhm',
    'mm',
    'hmm',
    'hm',
    'uh',
    'um',
    'ah',
    'oh',
    'yeah',
    'yep',
    'yes',
    'okay',
    'ok',
    'right',
    'sure',
    'i see',
    'got it',
    'huh',
  ],
  ja: ['うん', 'はい', 'ええ', 'へえ', 'そう', 'そうですか', 'なるほど', 'ふーん', 'あー'],
  zh: ['嗯', '嗯嗯', '哦', '啊', '好', '好的', '对', '是', '是的', '明白'],
  ko: ['네', '예', '응', '음', '아', '그래', '그렇군요', '맞아요'],
  es: ['ajá', 'mm', 'mhm', 'sí', 'ya', 'vale', 'claro', 'bueno', 'de acuerdo', 'ah', 'oh'],
  fr: ['mm', 'mhm', 'oui', 'ouais', 'd accord', 'ok', 'ah', 'oh', 'hein', 'voilà', 'je vois'],
  de: ['mm', 'mhm', 'hm', 'ja', 'ok', 'okay', 'genau', 'ach so', 'aha', 'klar', 'gut', 'stimmt'],
  pt: ['aham', 'uhum', 'mm', 'sim', 'tá', 'tá bom', 'certo', 'ok', 'ah', 'claro', 'entendi'],
  it: ['mm', 'mhm', 'sì', 'ok', 'va bene', 'certo', 'ah', 'eh', 'capito', 'giusto'],
  nl: ['mm', 'mhm', 'ja', 'oké', 'ok', 'goed', 'precies', 'ah', 'oh', 'juist', 'snap ik'],
};

/** Lower case, punctuation gone, white space collapsed. */
export function plainWords(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}

/** Whether `text` is nothing but backchannels of the language, or phrases the agent is told to ignore. */
export function isBackchannel(text: string, language: string, ignorePhrases: readonly string[]): boolean {
  const phrases = [...(BACKCHANNELS[language] ?? []), ...ignorePhrases.map(plainWords)].filter(
    (p) => p !== '',
  );
  phrases.sort((a, b) => b.length - a.length);
  let rest = plainWords(text);
  while (rest !== '') {
    const next = phrases.find((p) => rest === p || rest.startsWith(`${p} `));
    if (next === undefined) return false;
    rest = rest.slice(next.length).trim();
  }
  return true;
}

/** Number of words; characters for languages written without spaces. */
export function wordCount(text: string, language: string): number {
  const plain = plainWords(text);
  if (plain === '') return 0;
  return language === 'ja' || language === 'zh' ? plain.replace(/ /g, '').length : plain.split(' ').length;
}
