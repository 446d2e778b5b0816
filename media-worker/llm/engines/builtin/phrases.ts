/** What the responder says and understands in a language other than English. */
export interface Phrases {
  readonly greeting: string;
  readonly welcome: string;
  readonly goodbye: string;
  readonly notFound: string;
  /** What it is, said openly. */
  readonly identity: string;
  readonly isGreeting: RegExp;
  readonly isThanks: RegExp;
  readonly isGoodbye: RegExp;
  readonly isWho: RegExp;
}

// Japanese stands in kana with spaces: the built-in voice can't read kanji.
export const PHRASES: Readonly<Record<string, Phrases>> = {
  ja: {
    greeting: 'こんにちは。 なにを おてつだい しましょうか。',
    welcome: 'どういたしまして。 ほかに なにか ありますか。',
    goodbye: 'おでんわ ありがとうございました。 しつれいします。',
    notFound: 'すみません、それは わかりません。 べつの いいかたで おねがいします。',
    identity: 'わたしは パーレイの くみこみ おうとうきのうです。 にんげんでも げんごモデルでも ありません。',
    isGreeting: /こんにちは|おはよう|こんばんは|もしもし/,
    isThanks: /ありがとう|有難う|感謝/,
    isGoodbye: /さようなら|さよなら|失礼します|しつれいします|バイバイ|じゃあね/,
    isWho: /(?:あなた|君|きみ).{0,4}(?:誰|だれ|何者|人間|ロボット)|どなた/,
  },
  zh: {
    greeting: '您好，请问有什么可以帮您？',
    welcome: '不客气。还有别的问题吗？',
    goodbye: '谢谢您的来电，再见。',
    notFound: '对不起，我没有这方面的资料。请换一种说法。',
    identity: '我是 Parley 的内置应答程序，不是真人，也不是语言模型。',
    isGreeting: /你好|您好|早上好|下午好|晚上好|喂/,
    isThanks: /谢谢|多谢|感谢/,
    isGoodbye: /再见|拜拜|挂了/,
    isWho: /你是谁|您是谁|你是(?:机器人|真人|人工智能)|你叫什么/,
  },
  ko: {
    greeting: '안녕하세요. 무엇을 도와드릴까요?',
    welcome: '천만에요. 더 필요하신 것이 있으신가요?',
    goodbye: '전화해 주셔서 감사합니다. 안녕히 계세요.',
    notFound: '죄송합니다. 그것은 제가 받은 내용에 없습니다. 다르게 말씀해 주시겠어요?',
    identity: '저는 팔리의 내장 응답기입니다. 사람도 언어 모델도 아닙니다.',
    isGreeting: /안녕하세요|여보세요/,
    isThanks: /감사|고마/,
    isGoodbye: /안녕히|잘 ?가|끊을게|끊겠습니다/,
    isWho: /누구(?:세요|입니까|야)|사람(?:이에요|인가요|입니까)|로봇|이름이 뭐/,
  },
  es: {
    greeting: 'Hola, ¿en qué puedo ayudarle?',
    welcome: 'De nada. ¿Necesita algo más?',
    goodbye: 'Gracias por llamar. Hasta luego.',
    notFound: 'Lo siento, no tengo información sobre eso. ¿Puede decirlo de otra manera?',
    identity: 'Soy el contestador integrado de Parley, no una persona ni un modelo de lenguaje.',
    isGreeting: /\b(?:hola|buenos días|buenas(?: tardes| noches)?)/i,
    isThanks: /\bgracias\b/i,
    isGoodbye: /\b(?:adiós|adios|hasta (?:luego|pronto|mañana)|chao)/i,
    isWho: /qui[eé]n (?:eres|es usted)|c[oó]mo (?:te llamas|se llama)|eres (?:una persona|un robot|humano)/i,
  },
  fr: {
    greeting: 'Bonjour, comment puis-je vous aider ?',
    welcome: 'Je vous en prie. Puis-je faire autre chose pour vous ?',
    goodbye: 'Merci de votre appel. Au revoir.',
    notFound: "Désolé, je n'ai rien à ce sujet. Pouvez-vous le dire autrement ?",
    identity: 'Je suis le répondeur intégré de Parley, ni une personne ni un modèle de langage.',
    isGreeting: /\b(?:bonjour|bonsoir|salut|allô)/i,
    isThanks: /\bmerci\b/i,
    isGoodbye: /\b(?:au revoir|à bientôt|bonne (?:journée|soirée))/i,
    isWho:
      /qui (?:êtes|es)[- ](?:vous|tu)|comment (?:vous appelez|t'appelles)|êtes-vous (?:une personne|un robot|humain)/i,
  },
  de: {
    greeting: 'Guten Tag, wie kann ich Ihnen helfen?',
    welcome: 'Gern geschehen. Kann ich sonst noch etwas für Sie tun?',
    goodbye: 'Danke für Ihren Anruf. Auf Wiederhören.',
    notFound: 'Dazu habe ich leider keine Angaben. Können Sie es anders sagen?',
    identity: 'Ich bin der eingebaute Antworter von Parley, kein Mensch und kein Sprachmodell.',
    isGreeting: /\b(?:hallo|guten (?:tag|morgen|abend)|moin|servus|grüß gott)/i,
    isThanks: /\b(?:danke|vielen dank)\b/i,
    isGoodbye: /\b(?:tschüss|tschüs|auf wieder(?:sehen|hören)|bis bald|ciao)/i,
    isWho: /wer (?:sind sie|bist du)|wie heißen sie|sind sie (?:ein mensch|ein roboter|eine maschine)/i,
  },
  pt: {
    greeting: 'Olá, em que posso ajudar?',
    welcome: 'De nada. Posso ajudar em mais alguma coisa?',
    goodbye: 'Obrigado por ligar. Até logo.',
    notFound: 'Desculpe, não tenho informação sobre isso. Pode dizer de outra forma?',
    identity: 'Sou o atendente integrado do Parley, não uma pessoa nem um modelo de linguagem.',
    isGreeting: /(?:olá|\boi\b|bom dia|boa (?:tarde|noite))/i,
    isThanks: /\b(?:obrigad[oa])\b/i,
    isGoodbye: /\b(?:tchau|adeus|até (?:logo|mais|amanhã))/i,
    isWho: /quem (?:é|és) (?:você|tu|o senhor)|como (?:você se|te) chama|é (?:uma pessoa|um robô|humano)/i,
  },
  it: {
    greeting: 'Buongiorno, come posso aiutarla?',
    welcome: 'Prego. Posso fare altro per lei?',
    goodbye: 'Grazie della chiamata. Arrivederci.',
    notFound: 'Mi dispiace, non ho informazioni su questo. Può dirlo in un altro modo?',
    identity: 'Sono il risponditore integrato di Parley, non una persona e non un modello linguistico.',
    isGreeting: /\b(?:ciao|buongiorno|buonasera|salve|pronto)\b/i,
    isThanks: /\bgrazie\b/i,
    isGoodbye: /\b(?:arrivederci|addio|a presto|buona giornata)\b/i,
    isWho: /chi (?:sei|è lei)|come (?:ti chiami|si chiama)|(?:sei|è) (?:una persona|un robot|umano)/i,
  },
  nl: {
    greeting: 'Goedendag, waarmee kan ik u helpen?',
    welcome: 'Graag gedaan. Kan ik nog iets voor u doen?',
    goodbye: 'Bedankt voor uw telefoontje. Tot ziens.',
    notFound: 'Daar heb ik helaas niets over. Kunt u het anders zeggen?',
    identity: 'Ik ben de ingebouwde beantwoorder van Parley, geen mens en geen taalmodel.',
    isGreeting: /\b(?:hallo|hoi|goede(?:n)?(?:dag|morgen|middag|avond)|goede(?:morgen|middag|avond))/i,
    isThanks: /\b(?:bedankt|dank u|dank je|dankjewel)\b/i,
    isGoodbye: /\b(?:tot ziens|doei|dag dag|tot later)\b/i,
    isWho: /wie (?:bent u|ben je)|hoe heet (?:u|je)|(?:bent u|ben je) (?:een mens|een robot)/i,
  },
};
