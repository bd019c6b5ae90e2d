//! A browser without scripts, which keeps cookies and sends forms unchanged.

use std::collections::BTreeMap;

use regex::Regex;
use url::Url;
use url::form_urlencoded::Serializer;

use crate::stage::{Reply, Stage, User};

/// A browser at the pages of an instance, which keeps cookies and sends forms unchanged.
pub struct Browser {
    pub http: User,
    pub jar: BTreeMap<String, String>,
}

/// A page as received.
pub struct Page {
    pub path: String,
    pub reply: Reply,
    pub html: String,
}

impl Page {
    /// Checks the status, and fails with the page if it differs.
    #[track_caller]
    pub fn is(self, status: u16) -> Self {
        assert_eq!(self.reply.status, status, "{}: {}", self.path, self.html);
        self
    }

    #[track_caller]
    pub fn says(&self, text: &str) -> &Self {
        assert!(self.html.contains(text), "{} lacks {text}: {}", self.path, self.html);
        self
    }

    #[track_caller]
    pub fn omits(&self, text: &str) -> &Self {
        assert!(!self.html.contains(text), "{} has {text}: {}", self.path, self.html);
        self
    }

    /// Returns the address that the page redirects to at once.
    #[track_caller]
    pub fn leads_to(&self) -> String {
        let refresh = Regex::new(r#"content="0; url=([^"]*)""#).unwrap();
        let found = refresh.captures(&self.html).unwrap_or_else(|| panic!("{}", self.html));
        html_escape::decode_html_entities(&found[1]).into_owned()
    }

    /// Returns the fields of the form for `action`, as an unchanged form would send them.
    #[track_caller]
    pub fn form(&self, action: &str) -> BTreeMap<String, String> {
        let start = format!("action=\"{action}\"");
        let (_, rest) = self
            .html
            .split_once(&start)
            .unwrap_or_else(|| panic!("{} has no form for {action}: {}", self.path, self.html));
        let form = rest.split("</form>").next().unwrap();
        let mut fields = BTreeMap::new();
        let attribute = |tag: &str, name: &str| {
            let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
            let value = rest.split('"').next()?;
            Some(html_escape::decode_html_entities(value).into_owned())
        };
        for tag in form.split('<').filter(|tag| tag.starts_with("input ")) {
            fields.insert(
                attribute(tag, "name").unwrap(),
                attribute(tag, "value").unwrap_or_default(),
            );
        }
        fields
    }
}

impl Browser {
    pub fn at(stage: &Stage) -> Self {
        Self { http: User::nobody(&stage.url("")), jar: BTreeMap::new() }
    }

    /// Returns a browser in which this person has signed in with their token.
    pub async fn of(stage: &Stage, name: &str) -> Self {
        let mut browser = Self::at(stage);
        let form = browser.get("/sign-in?return=/accounts").await.is(200);
        let page = browser.submit(&form, "/sign-in", &[("bearer", name)]).await.is(303);
        assert_eq!(page.reply.header("location"), "/accounts");
        browser
    }

    pub async fn send(
        &mut self,
        method: &str,
        path: &str,
        more: &[(&str, &str)],
        body: String,
    ) -> Page {
        let cookies: Vec<String> =
            self.jar.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let cookies = cookies.join("; ");
        let mut headers = vec![("cookie", cookies.as_str())];
        headers.extend(more);
        let reply = self.http.send(method, path, &headers, body).await;
        for cookie in reply.headers.get_all("set-cookie") {
            let cookie = cookie.to_str().unwrap();
            let (name, value) = cookie.split(';').next().unwrap().split_once('=').unwrap();
            if cookie.contains("Max-Age=0") {
                self.jar.remove(name)
            } else {
                self.jar.insert(name.to_owned(), value.to_owned())
            };
        }
        let html = reply.text();
        Page { path: path.to_owned(), reply, html }
    }

    pub async fn get(&mut self, path: &str) -> Page {
        self.send("GET", path, &[("sec-fetch-site", "same-origin")], String::new()).await
    }

    /// Posts fields, as a form of this page would.
    pub async fn post(&mut self, path: &str, fields: &BTreeMap<String, String>) -> Page {
        let origin = self.http.base.clone();
        let headers = [
            ("origin", origin.as_str()),
            ("sec-fetch-site", "same-origin"),
            ("content-type", "application/x-www-form-urlencoded"),
        ];
        let body = Serializer::new(String::new()).extend_pairs(fields).finish();
        self.send("POST", path, &headers, body).await
    }

    /// Sends the form of a page to `action`, with these changes.
    pub async fn submit(&mut self, page: &Page, action: &str, changes: &[(&str, &str)]) -> Page {
        let mut fields = page.form(action);
        for (name, value) in changes {
            fields.insert((*name).to_owned(), (*value).to_owned());
        }
        self.post(action, &fields).await
    }

    /// Returns from a consent page, and gives the accounts page after it.
    pub async fn back(&mut self, path: &str) -> Page {
        let done = self.get(path).await.is(303);
        assert_eq!(done.reply.header("location"), "/accounts");
        let page = self.get("/accounts").await.is(200);
        // It is shown once.
        self.get("/accounts").await.is(200).omits("id=\"connected\"").omits("id=\"problem\"");
        page
    }

    /// Begins to connect an account. Returns the path and query to which the consent page
    /// redirects.
    pub async fn consent(&mut self, provider: &str, mailbox: &str, decision: &str) -> String {
        let path = format!("/connect/{provider}");
        let form = self.get(&path).await.is(200);
        let page = self.submit(&form, &path, &[("hint", mailbox)]).await.is(200);
        let consent = [("x-sandbox-consent", decision)];
        let back = self.http.send("GET", &page.leads_to(), &consent, "").await;
        let back = Url::parse(back.header("location")).unwrap();
        format!("{}?{}", back.path(), back.query().unwrap())
    }
}

/// Returns the cookies of one instance, renamed for another. On loopback, cookie names contain the
/// port.
pub fn renamed(
    jar: &BTreeMap<String, String>,
    from: &Stage,
    to: &Stage,
) -> BTreeMap<String, String> {
    let (from, to) = (from.address.port().to_string(), to.address.port().to_string());
    jar.iter().map(|(name, value)| (name.replace(&from, &to), value.clone())).collect()
}
