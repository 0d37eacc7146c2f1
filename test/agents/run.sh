#!/usr/bin/env bash
# `make agents`: Claude Code and Codex, as their vendors publish them, with the gateway and model servers of this machine.
# Installs them from npm in .cache/agents without their scripts. The project does not depend on them.
set -euo pipefail
cd "$(dirname "$0")/../.."

claude=2.1.332 codex=0.171.0
cache=$PWD/.cache/agents
if [[ $(cat "$cache/versions" 2>/dev/null) != "$claude $codex" ]]; then
	mkdir -p "$cache"
	npm install --prefix "$cache" --ignore-scripts --no-audit --no-fund --loglevel=error \
		"@anthropic-ai/claude-code@$claude" "@openai/codex@$codex"
	echo "$claude $codex" >"$cache/versions"
fi
# The package has a command that a script would replace with the program of the platform.
claude_program=$(ls -d "$cache"/node_modules/@anthropic-ai/claude-code-*/claude | head -n 1)
export GW_AGENTS_CLAUDE=$claude_program GW_AGENTS_CODEX=$cache/node_modules/.bin/codex
node_modules/.bin/vitest run --config test/agents/vitest.config.ts "$@"
