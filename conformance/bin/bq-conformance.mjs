#!/usr/bin/env node
// A file of its own, because the built command is not there yet when a workspace links its commands.
import "../dist/cli.mjs";
