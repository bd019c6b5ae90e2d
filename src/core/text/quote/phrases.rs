//! The words by which mail programs and people introduce, close and sign texts.
//!
//! This is only data: lists in lower case, separated by `|`. Their meaning is decided in
//! [`marks`](super::marks) and [`foot`](super::foot). The languages are English, German, French,
//! Spanish, Italian, Portuguese, Dutch, Swedish, Danish, Norwegian, Polish, Czech, Russian,
//! Ukrainian, Turkish, Finnish, Hungarian, Greek, Japanese, Chinese and Korean; the labels of
//! header lines also in Slovak, Slovenian, Croatian, Serbian, Bulgarian, Romanian, Catalan,
//! Lithuanian, Latvian, Estonian, Hebrew, Arabic, Persian, Thai, Indonesian and Vietnamese.

/// Returns true if `word` is an entry of the list.
pub fn names(list: &str, word: &str) -> bool {
    list.split('|').any(|one| one == word)
}

/// Returns true if a text contains an entry of the list.
pub fn contains_any(list: &str, text: &str) -> bool {
    list.split('|').any(|one| text.contains(one))
}

/// Returns true if a text begins with an entry of the list.
pub fn begins(list: &str, text: &str) -> bool {
    list.split('|').any(|one| text.starts_with(one))
}

/// Labels of the author in a block of header lines.
pub const FROM: &str = "from|von|de|da|van|från|fra|od|от|від|kimden|gönderen|lähettäjä|feladó|\
    από|差出人|送信者|发件人|寄件者|寄件人|보낸 사람|보낸사람|remitente|expéditeur|mittente|afzender|\
    sender|de la|nuo|saatja|no|šalje|od koga|шаље|จาก|dari|từ|מאת|من|از";
/// Labels of the time of sending.
pub const SENT: &str = "sent|sent time|gesendet|envoyé|envoyé le|message du|enviado|enviado el|\
    enviada em|enviado em|enviada|inviato|data invio|verzonden|skickat|sendt|wysłano|odesláno|\
    отправлено|надіслано|gönderildi|gönderme tarihi|lähetetty|elküldve|küldve|στάλθηκε|送信日時|\
    发送时间|发件时间|傳送時間|寄件日期|보낸 날짜|보낸날짜|보낸 시간|odoslané|odoslal|poslano|\
    послато|trimis|trimisă|изпратено|išsiųsta|nosūtīts|saadetud|enviat|ส่ง|dikirim|terkirim|\
    đã gửi|נשלח|تاريخ الإرسال|أرسلت";
/// Labels of any time.
pub const DATE: &str = "date|datum|fecha|data|dato|дата|tarih|päivämäärä|päiväys|dátum|ημερομηνία|\
    日時|日付|日期|時間|时间|날짜|datums|kuupäev|วันที่|tanggal|ngày|תאריך|التاريخ|تاریخ";
/// Labels of the recipients.
pub const TO: &str = "to|an|à|para|a|aan|till|til|do|komu|кому|kime|alıcı|vastaanottaja|címzett|\
    προς|宛先|收件人|收件者|받는 사람|받는사람|destinataire|destinatario|destinatário|\
    către|catre|до|kam|kellele|prima|za|за|per a|ถึง|ke|kepada|tới|đến|אל|إلى|به";
/// Labels of the subject.
pub const SUBJECT: &str = "subject|betreff|objet|asunto|assunto|oggetto|onderwerp|ämne|emne|temat|\
    předmět|тема|konu|aihe|tárgy|θέμα|件名|主题|主旨|제목|\
    sujet|predmet|предмет|naslov|zadeva|subiect|относно|tema|teema|temats|assumpte|เรื่อง|subjek|\
    perihal|chủ đề|tiêu đề|נושא|الموضوع|موضوع";

/// Marks before the subject of a forwarded message.
pub const FORWARD_PREFIXES: &str = "fw|fwd|wg|tr|i|rv|enc|doorst|vb|vs|vl|pd|przek|fs|ilt|προ|πρθ|\
    továbbítás|továbbitás|转发|轉寄|転送|전달|пересл|прислано|вих";
/// Marks before the subject of a reply.
pub const REPLY_PREFIXES: &str = "re|aw|sv|antw|antwort|rif|res|r|odp|vá|ynt|yan|σχετ|απ|ответ|отв|\
    відп|回复|回覆|答复|返信|답장|회신";

/// Titles between dashes above a quoted message.
pub const ORIGINAL: &str = "original message|original appointment|original email|original mail|\
    reply message|ursprüngliche nachricht|ursprünglicher termin|originalnachricht|original-nachricht|\
    message d'origine|message original|courriel d'origine|mensaje original|mensagem original|\
    messaggio originale|oorspronkelijk bericht|origineel bericht|ursprungligt meddelande|\
    originalmeddelande|oprindelig meddelelse|den oprindelige meddelelse|opprinnelig melding|\
    wiadomość oryginalna|oryginalna wiadomość|původní zpráva|původní e-mail|исходное сообщение|\
    оригінальне повідомлення|вихідне повідомлення|orijinal ileti|özgün ileti|orijinal mesaj|\
    alkuperäinen viesti|eredeti üzenet|αρχικό μήνυμα|元のメッセージ|元のメール|原始邮件|邮件原件|\
    原始郵件|원본 메시지|원본 메일";
/// Beginnings of titles between dashes above a forwarded message.
pub const FORWARDED: &str = "forwarded message|forwarded by|weitergeleitete nachricht|\
    weitergeleitet von|message transféré|message réexpédié|mensaje reenviado|mensagem encaminhada|\
    mensagem reencaminhada|messaggio inoltrato|doorgestuurd bericht|vidarebefordrat meddelande|\
    videresendt meddelelse|videresendt besked|videresendt melding|wiadomość przekazana|\
    przekazana wiadomość|treść przekazanej wiadomości|přeposlaná zpráva|předaná zpráva|\
    пересылаемое сообщение|пересланное сообщение|переслане повідомлення|iletilen ileti|\
    yönlendirilmiş mesaj|yönlendirilen ileti|edelleenlähetetty viesti|välitetty viesti|\
    továbbított üzenet|továbbított levél|προωθημένο μήνυμα|προωθούμενο μήνυμα|\
    転送されたメッセージ|転送メッセージ|转发的邮件|转发邮件|轉寄郵件|轉寄的郵件|전달된 메시지|전달된 메일";
/// Whole lines above a forwarded message.
pub const FORWARDS: &str = "begin forwarded message:|anfang der weitergeleiteten nachricht:|\
    anfang der weitergeleiteten e-mail:|début du message transféré :|début du message réexpédié :|\
    inicio del mensaje reenviado:|inizio messaggio inoltrato:|begin doorgestuurd bericht:|\
    início da mensagem reencaminhada:|início da mensagem encaminhada:|vidarebefordrat brev:|\
    vidarebefordrat mejl:|videresendt besked:|start på videresendt besked:|\
    videresendt melding:|początek przekazywanej wiadomości:|začátek přeposlané zprávy:|\
    начало переадресованного сообщения:|початок листа, що пересилається:|\
    başlangıçta iletilen e-posta:|välitetty viesti alkaa:|továbbított üzenet kezdete:|\
    αρχή προωθημένου μηνύματος:|転送されたメッセージ：|转发的信息：|以下是转发的邮件：|開始轉寄郵件：|\
    전달된 메시지:";

/// Beginnings of a line that introduces a quote, each with a verb. Without a beginning, the verb is
/// common enough in sentences that the line needs an address or a year as well.
pub const ATTRIBUTIONS: &[(&str, &str)] = &[
    ("on ", "wrote"),
    ("am ", "schrieb"),
    ("le ", "a écrit"),
    ("el ", "escribió"),
    ("il ", "ha scritto"),
    ("op ", "schreef"),
    ("em ", "escreveu"),
    ("a ", "escreveu"),
    ("den ", "skrev"),
    ("w dniu ", "pisze"),
    ("w dniu ", "napisał"),
    ("dne ", "napsal"),
    ("dňa ", "napísal"),
    ("în ", "a scris"),
    ("dana ", "napisao"),
    ("στις ", "έγραψε"),
    ("", "schrieb"),
    ("", "ha scritto"),
    ("", "va escriure"),
    ("", "napisał"),
    ("", "napsal"),
    ("", "napísal"),
    ("", "je napisa"),
    ("", "a scris"),
    ("", "skrev"),
    ("", "skreiv"),
    ("", "kirjoitti"),
    ("", "kirjutas"),
    ("", "rašė"),
    ("", "rakstīja"),
    ("", "írta"),
    ("", "yazdı"),
    ("", "έγραψε"),
    ("", "пишет"),
    ("", "написал"),
    ("", "пише"),
    ("", "написа"),
    ("", "כתב"),
    ("", "كتب"),
    ("", "đã viết"),
    ("", "menulis"),
    ("", "เขียน"),
    ("", "写道"),
    ("", "寫道"),
    ("", "作成"),
    ("", "작성"),
];
/// Ends of a short line above lines that are marked as quoted.
pub const WROTE: &[&str] = &[
    " wrote:", " writes:", " schrieb:", " a écrit:", " a écrit :", " escribió:", " ha scritto:",
    " schreef:", " escreveu:", " skrev:", " napisał:", " napisał(a):", " pisze:", " napsal:",
    " napsal(a):", " пишет:", " написал:", " написал(а):", " пише:", " kirjoitti:", " írta:",
    " yazdı:", " έγραψε:", "写道：", "寫道：", "님이 작성:",
];

/// Beginnings of the line that a phone adds as a signature.
pub const SENT_FROM: &str = "sent from my |sent from outlook|sent from mail for|sent from yahoo|\
    sent from proton|sent from samsung|sent via |sent with proton|sent using |get outlook for |\
    von meinem |gesendet von |gesendet mit |diese nachricht wurde von meinem |envoyé de mon |\
    envoyé depuis |envoyé à partir |enviado desde |enviado do meu |enviado a partir |inviato da |\
    inviato dal |verzonden vanaf |verstuurd vanaf |verzonden met |skickat från |sendt fra |\
    wysłane z |wysłano z |odesláno z |отправлено с |отправлено из |надіслано з |lähetetty iphone|lähetetty puhelime|\
    iphone'umdan gönderildi|küldve az |στάλθηκε από |iphoneから送信|从我的 iphone|发自我的|\
    從我的 iphone|나의 iphone에서 보냄";
/// Whole lines that close a message, without the sign at their end.
pub const CLOSINGS: &str = "best|best regards|kind regards|warm regards|regards|with best regards|\
    with kind regards|best wishes|all the best|cheers|thanks|thank you|many thanks|thanks again|\
    thanks and regards|sincerely|yours sincerely|sincerely yours|yours faithfully|yours truly|yours|\
    mit freundlichen grüßen|mit freundlichen grüssen|mit freundlichem gruß|freundliche grüße|\
    freundliche grüsse|mit besten grüßen|beste grüße|viele grüße|liebe grüße|herzliche grüße|\
    schöne grüße|grüße|gruß|mfg|lg|vg|hochachtungsvoll|cordialement|bien cordialement|très cordialement|\
    cdlt|bien à vous|amicalement|salutations|salutations distinguées|meilleures salutations|\
    sincères salutations|saludos|un saludo|saludos cordiales|un cordial saludo|atentamente|cordialmente|\
    cordiali saluti|distinti saluti|saluti|un saluto|un cordiale saluto|atenciosamente|cumprimentos|\
    com os melhores cumprimentos|melhores cumprimentos|abraço|met vriendelijke groet|\
    met vriendelijke groeten|vriendelijke groeten|groeten|groet|mvg|med vänliga hälsningar|\
    vänliga hälsningar|med vänlig hälsning|hälsningar|mvh|med venlig hilsen|venlig hilsen|hilsen|\
    bedste hilsner|med vennlig hilsen|vennlig hilsen|pozdrawiam|z poważaniem|serdecznie pozdrawiam|\
    s pozdravem|s pozdravom|с уважением|с наилучшими пожеланиями|всего доброго|з повагою|\
    saygılarımla|iyi çalışmalar|ystävällisin terveisin|terveisin|üdvözlettel|με εκτίμηση";

/// Beginnings of a paragraph that a mailing list adds.
pub const LIST_BEGINS: &str = "you received this message because you are subscribed|\
    you received this message because you are a member|you are receiving this because|\
    you are receiving this email because|you received this email because|\
    you're receiving this email because|you are subscribed to|to unsubscribe from this group|\
    to unsubscribe from this list|to unsubscribe, |reply to this email directly|\
    sie erhalten diese nachricht, weil|sie haben diese nachricht erhalten, weil|\
    sie erhalten diese e-mail, weil|vous recevez ce message, car|vous recevez cet e-mail car|\
    vous avez reçu ce message, car|has recibido este mensaje porque|recibes este mensaje porque|\
    você recebeu essa mensagem porque|recebeu esta mensagem porque|\
    hai ricevuto questo messaggio perché|ricevi questo messaggio perché|\
    je hebt dit bericht ontvangen omdat|je ontvangt dit bericht omdat|u ontvangt dit bericht omdat|\
    du får det här meddelandet|otrzymujesz tę wiadomość, ponieważ|\
    вы получили это сообщение, поскольку|вы получили это сообщение, так как|\
    このメールは google グループ|您收到此邮件是因为|你收到此邮件是因为";
/// Words in the footers of mailing lists.
pub const LISTS: &str = "mailing list|mailinglist|mailing-list|listinfo|mailman|unsubscribe|\
    google groups|groups.io|yahoo! groups|yahoo groups|list archive|reply to this email directly|\
    you are receiving this because|liste de diffusion|lista de correo|lista de distribuição|abmelden|\
    abbestellen|abzumelden|désabonner|désinscrire|darse de baja|cancelar la suscripción|\
    cancelar a inscrição|cancelar inscrição|annullare l'iscrizione|disiscri|uitschrijven|afmelden|\
    avregistrera|afmeld|wypisać|anulować subskrypcję|отписаться|отказаться от подписки|配信停止|退订|\
    取消订阅|수신거부";

/// Phrases of disclaimers; two of them make one.
pub const DISCLAIMS: &str = "confidential|privileged|intended recipient|intended only|\
    intended solely|addressee|unauthori|notify the sender|notify us|in error|disclos|\
    legally protected|virus|liab|monitored|environment before printing|delete it|delete this|\
    vertraulich|rechtlich geschützt|nicht der richtige adressat|nicht der beabsichtigte|\
    nicht der vorgesehene|irrtümlich|unbefugt|vernichten|löschen sie|nicht gestattet|\
    ausschließlich für|confidentiel|destinataire|par erreur|détruire|avertir|interdite|\
    confidencial|destinatario|por error|prohibid|elimin|riservat|confidenzial|destinatari|\
    per errore|vietat|cancellar|distrugg|destinatário|por engano|proibid|apag|vertrouwelijk|\
    geadresseerde|bestemd voor|ten onrechte|vernietig|verwijder|verspreiding|konfidentiel|\
    förtrolig|fortrolig|avsedd|av misstag|mottagare|modtager|ved en fejl|radera|poufn|adresat|\
    przez pomyłkę|omyłk|zabronion|конфиденциальн|адресат|по ошибке|запрещ|důvěrn|adresát|omyl|\
    機密|誤って|机密|保密";
/// Words for a message, one of which every disclaimer has.
pub const MESSAGE: &str = "mail|message|communication|transmission|nachricht|mensaje|correo|\
    messaggio|mensagem|bericht|meddela|meddelelse|wiadomoś|сообщени|письм|zpráv|courriel|メール|邮件|\
    郵件";
