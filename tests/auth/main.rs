//! Tokens and who they say calls, against an issuer on loopback that this test signs for.
