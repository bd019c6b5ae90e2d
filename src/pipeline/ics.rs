//! Events from and to iCalendar (RFC 5545).
